import { isUnanswered, type ThreadItem } from '../contracts/approval-record.ts'
import { findOfCall } from '../approvals/index.ts'
import { describeCall } from './cut-calls.ts'

/** Returns what the model is told of the items of a run that nobody answered before a new message superseded the run. */
export const supersededNotes = (items: readonly ThreadItem[]): string[] => items.flatMap((item) => noteOf(item, items) ?? [])

const shown = (value: unknown) => JSON.stringify(value).slice(0, 500)

function noteOf (item: ThreadItem, items: readonly ThreadItem[]): string | undefined {
  switch (item.kind) {
    case 'question':
      return item.state === 'pending' ? `The user did not answer ${shown(item.questions)} and said something else.` : undefined
    case 'app':
      if (isUnanswered(item)) {
        return `${describeCall(item)} was given to the application, which did not say how it ended. Check before doing it again.`
      }
      if (item.state !== 'done' && item.state !== 'error') return undefined
      return `${describeCall(item)} was executed by the application, with the result ${shown(item.output ?? item.errorText)}.`
    case 'tool':
      // An approved call of the application has two items; the one of the application says more.
      return (item.state === 'pending' || item.state === 'approved') && findOfCall(items, item.toolCallId).answer === undefined
        ? `${describeCall(item)} was not carried out: the user said something else instead of approving it.`
        : undefined
  }
}
