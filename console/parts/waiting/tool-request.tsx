import type { Approval, ApprovalPreview } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { ServiceText } from '../service-text.tsx'
import { VisibleText } from '../visible-text.tsx'
import { CallInput, Field } from './call-input.tsx'
import { CallPreview, usePreview } from './call-preview.tsx'
import { Correct } from './correct.tsx'
import { Decide } from './decide.tsx'
import { TryOut } from './try-out.tsx'
import type { DecisionInProgress } from './use-decision.ts'

/** Fields that a diff shows in a more readable form. */
const IN_DIFF = ['content', 'edits']
/** Fields with paths that the list of changes shows in full. */
const PATHS = ['path', 'from', 'to']

/** A tool call that waits: its whole input, its real working folder, the preview of its changes, and the decision. */
export function ToolRequest ({ approval, decision, isOpen }: { approval: Approval, decision: DecisionInProgress, isOpen: boolean }) {
  const { cwd, boundary, toolServer, note, reasons = [] } = approval
  const why = reasons.filter(({ text }) => text !== note)
  const input = approval.correctedInput ?? approval.input
  const preview = usePreview(approval)
  const changes = isOpen && preview && preview.refused === undefined && !boundary ? preview.changes : []
  const hasDiff = changes.some(({ diff }) => diff?.includes('@@'))
  const without = [...hasDiff ? IN_DIFF : [], ...changes.length > 0 ? PATHS : []]
  const folder = cwd !== undefined && (
    <Field name={say('approval.folder')}><code><VisibleText text={cwd} limit={Infinity} /></code></Field>
  )
  return (
    <>
      <CallInput input={input} without={without}>
        {!(cwd !== undefined && areBelow(cwd, changes)) && folder}
        {toolServer && <Field name={say('approval.toolServer')}><VisibleText text={toolServer.name} limit={200} /></Field>}
        {toolServer?.title && <Field name={say('approval.toolTitle')}><VisibleText text={toolServer.title} limit={200} /></Field>}
        {why.length > 0 && (
          <Field name={say('approval.why')}>{why.map(({ policy, text }) => <div key={policy}><ServiceText text={text} /></div>)}</Field>
        )}
        {boundary && <Field name={say('approval.boundary')}><ServiceText text={boundary.text} /></Field>}
      </CallInput>
      {toolServer?.destructive && <p className='note note-warn'>{say('approval.destructive')}</p>}
      {isOpen && preview && <CallPreview {...preview} />}
      {isOpen && boundary !== undefined && boundary.is !== 'outside' && <TryOut {...approval} />}
      {isOpen && <Decide approval={approval} decision={decision} previewDigest={preview?.previewDigest} />}
      {isOpen && <Correct approval={approval} decision={decision} />}
      {without.length > 0 && (
        <details>
          <summary>{say('approval.wholeInput')}</summary>
          <CallInput input={input}>{folder}</CallInput>
        </details>
      )}
    </>
  )
}

/** Returns true if all changes lie in a folder, so that their paths already show it. */
const areBelow = (folder: string, changes: ApprovalPreview['changes']): boolean =>
  changes.length > 0 && changes.every(({ path, from = path }) => [path, from].every((each) => /^[\\/]/.test(each.slice(folder.length)) &&
    each.startsWith(folder)))
