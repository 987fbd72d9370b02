import { memo } from 'react'
import type { UIMessage } from 'ai'
import type { Approval } from '../../../../client/generated/index.ts'
import { say } from '../../../lib/say.ts'
import { BlockView } from '../../../parts/markdown/block-view.tsx'
import { CodeBlock } from '../../../parts/markdown/code-block.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'
import { WaitingItem } from '../../../parts/waiting/waiting-item.tsx'
import { AnswerEnd } from './answer-end.tsx'
import { CallRow } from './call-row.tsx'
import { ChosenRow } from './chosen-row.tsx'
import { FileRow } from './file-row.tsx'
import { AskedRow } from './asked-row.tsx'
import { SaidRow } from './said-row.tsx'
import { StepsRow } from './steps-row.tsx'
import { PlanCard } from './plan-card.tsx'
import { TaskCard } from './task-card.tsx'
import { Reasoning } from './reasoning.tsx'
import { UndoneBefore } from './undone.tsx'
import { EarlierVersions } from './earlier-versions.tsx'
import { runIdOf, type Row } from './rows.ts'

/** The state of a conversation that its rows share. */
export interface RowState {
  threadId: string
  /** The id of the last answer. */
  answerId?: string
  /** The id of a message that cannot be edited. */
  lockedId?: string
  /** True if nothing streams and no item waits. */
  isOver: boolean
  canEdit: boolean
  canRegenerate: boolean
  waiting: Approval[]
  onEdit: (message: UIMessage) => void
  onRegenerate: () => void
  /** Called with the element of the item when the service has accepted a decision of this page. */
  onDecided: (item: HTMLElement) => void
}

interface Props {
  row: Row
  threadId: string
  /** True if the conversation can go back to an earlier version: nothing streams and no item waits. */
  canGoBack: boolean
  /** True if the streaming answer is at this row. */
  isWritten: boolean
  /** True if the run of this message is not over. */
  isWorking: boolean
  /** True if the run of this message waits for the user, so that none of its calls runs. */
  isHeld: boolean
  /** The items that wait for the user because of this call. */
  waiting: Approval[]
  onEdit?: (message: UIMessage) => void
  onRegenerate?: () => void
  onDecided: (item: HTMLElement) => void
}

/** One row of a conversation. The first row of a message names its author for screen readers. */
export const RowView = memo(function RowView (props: Props) {
  const { row } = props
  const isOfUser = row.kind === 'said' || row.kind === 'steer' || row.kind === 'chosen' || (row.kind === 'file' && row.isSaid)
  return (
    <div className={isOfUser ? 'row row-said' : props.isWritten ? 'row row-written' : 'row'}>
      {row.isFirst && <h2 className='visually-hidden'>{say(isOfUser ? 'chat.you' : 'chat.agent')}</h2>}
      <Content {...props} />
    </div>
  )
})

function Content ({ row, threadId, canGoBack, isWorking, isHeld, waiting, onEdit, onRegenerate, onDecided }: Props) {
  switch (row.kind) {
    case 'said':
      return (
        <SaidRow
          text={row.text} state={row.state} onEdit={onEdit && (() => onEdit(row.message))}
          versions={<EarlierVersions threadId={threadId} messageId={row.message.id} canGoBack={canGoBack} />}
        />
      )
    case 'chosen':
      return <ChosenRow chosen={row.chosen} onEdit={onEdit && (() => onEdit(row.message))} />
    case 'steer':
      return <SaidRow text={row.text} state={row.state} />
    case 'system':
      return <p className='quiet row-text'><VisibleText text={row.text} /></p>
    case 'block':
      return <BlockView block={row.block} levels={row.levels} />
    case 'reasoning':
      return <Reasoning text={row.text} isAnalysis={row.isAnalysis} isOpen={row.isOpen} />
    case 'call':
      return (
        <>
          {waiting.every(({ live }) => live) && (
            <CallRow part={row.part} name={row.name} runId={runIdOf(row.message)} run={!isWorking ? 'over' : isHeld ? 'held' : 'live'} />
          )}
          {waiting.map((approval) => <WaitingItem key={approval.approvalId} approval={approval} withoutOwner onDecided={onDecided} />)}
        </>
      )
    case 'asked':
      return <AskedRow questions={row.questions} />
    case 'steps':
      return <StepsRow steps={row.steps} />
    case 'task':
      return <TaskCard task={row.task} />
    case 'plan':
      return <PlanCard steps={row.steps} />
    case 'undone':
      return <UndoneBefore undone={row.undone} />
    case 'revised':
      return <p className='quiet'>{say('chat.revised')}</p>
    case 'object':
      return <CodeBlock language='json' text={JSON.stringify(row.object, null, 2)} />
    case 'file':
      return <FileRow {...row} />
    case 'end':
      return isWorking ? null : <AnswerEnd threadId={threadId} message={row.message} onRegenerate={onRegenerate} />
  }
}
