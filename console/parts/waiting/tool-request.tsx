import type { Approval } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { ServiceText } from '../service-text.tsx'
import { VisibleText } from '../visible-text.tsx'
import { CallInput, Field } from './call-input.tsx'
import { CallPreview, usePreview } from './call-preview.tsx'
import { Correct } from './correct.tsx'
import { Decide } from './decide.tsx'
import { TryOut } from './try-out.tsx'
import type { DecisionInProgress } from './use-decision.ts'

/** Fields whose content a diff shows in a form that is easier to read. */
const IN_DIFF = ['content', 'edits']

/** A call of a tool: its whole input, the real folder that it works in, what it would change, and the decision. */
export function ToolRequest ({ approval, decision, isOpen }: { approval: Approval, decision: DecisionInProgress, isOpen: boolean }) {
  const { cwd, boundary, toolServer } = approval
  const input = approval.correctedInput ?? approval.input
  const preview = usePreview(approval)
  const hasDiff = isOpen && preview?.changes.some(({ diff }) => diff?.includes('@@')) === true
  return (
    <>
      <CallInput input={input} without={hasDiff ? IN_DIFF : []}>
        {cwd !== undefined && <Field name={say('approval.folder')}><code><VisibleText text={cwd} limit={Infinity} /></code></Field>}
        {toolServer && <Field name={say('approval.toolServer')}><VisibleText text={toolServer.name} limit={200} /></Field>}
        {toolServer?.title && <Field name={say('approval.toolTitle')}><VisibleText text={toolServer.title} limit={200} /></Field>}
        {boundary && <Field name={say('approval.boundary')}><ServiceText text={boundary.text} /></Field>}
      </CallInput>
      {toolServer?.destructive && <p className='note note-warn'>{say('approval.destructive')}</p>}
      {isOpen && preview && <CallPreview {...preview} />}
      {isOpen && boundary !== undefined && boundary.is !== 'outside' && <TryOut {...approval} />}
      {hasDiff && (
        <details>
          <summary>{say('approval.wholeInput')}</summary>
          <CallInput input={input} />
        </details>
      )}
      {isOpen && <Decide approval={approval} decision={decision} previewDigest={preview?.previewDigest} />}
      {isOpen && <Correct approval={approval} decision={decision} />}
    </>
  )
}
