import type { Outcome } from './goal.ts'

// Rules that every run must follow, however weak its model is. A violation is a fault of the service, not of the model.

type Run = Outcome['runs'][number]

/** Matches tokens of chat templates and tags of tool calls, which a model might write but no user must see. */
const TOKENS = new RegExp(
  String.raw`<[|｜][\w▁/-]{2,40}[|｜]>|\[/?(?:INST|TOOL_CALLS|TOOL_RESULTS)\]|` +
    String.raw`</?(?:s|eos|bos|tool_call|tool_response|start_of_turn|end_of_turn)>`
)
/** The number of consecutive steps without an executed call after which a run ends. */
const FRUITLESS_STEPS = 8
/** States of a run that neither has ended nor waits for a person. */
const UNDER_WAY = ['queued', 'running']

/** Returns the violated rules of a trial's runs, in sentences; an empty list if there are none. */
export function faultsOf ({ runs, answers }: Pick<Outcome, 'runs' | 'answers'>): string[] {
  const texts = [...answers, ...runs.map(({ output = '' }) => output)]
  const tokens = texts.flatMap((text) => TOKENS.exec(text)?.[0] ?? [])
  return [...new Set([...tokens.map((token) => `an answer shows ${token}`), ...runs.flatMap(faultsOfRun)])]
}

function faultsOfRun ({ status, output = '', object, error, stopped, toolCalls }: Run): string[] {
  const isSilent = status === 'completed' && output.trim() === '' && object === undefined && error === undefined && stopped === undefined
  const fruitless = longestFruitless(toolCalls)
  return [
    ...UNDER_WAY.includes(status) ? [`a run is still ${status}`] : [],
    ...isSilent ? ['a run says that it is completed, and nothing else'] : [],
    ...fruitless > FRUITLESS_STEPS && stopped === undefined ? [`${fruitless} calls in a row were not carried out, and the run went on`] : []
  ]
}

/** Returns the largest number of consecutive calls that did not begin. */
function longestFruitless (calls: Run['toolCalls']): number {
  let [most, now] = [0, 0]
  for (const { status, begun } of calls) {
    now = status === 'denied' || (status === 'error' && !begun) ? now + 1 : 0
    most = Math.max(most, now)
  }
  return most
}
