import type { Outcome } from './goal.ts'

// What every run owes the user, however weak its model is. What is missing here is a fault of the service, not of the model.

type Run = Outcome['runs'][number]

/** Tokens of chat templates and tags of calls, which a model may write and nobody is to see. */
const TOKENS = new RegExp(
  String.raw`<[|｜][\w▁/-]{2,40}[|｜]>|\[/?(?:INST|TOOL_CALLS|TOOL_RESULTS)\]|` +
    String.raw`</?(?:s|eos|bos|tool_call|tool_response|start_of_turn|end_of_turn)>`
)
/** Steps in a row without a call that was carried out, after which a run ends. */
const FRUITLESS_STEPS = 8
/** States in which a run is neither over nor waits for somebody. */
const UNDER_WAY = ['queued', 'running']

/** Returns what the runs of a trial owe the user, in sentences; [] when all is well. */
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

/** Returns the greatest number of calls in a row that did not begin. */
function longestFruitless (calls: Run['toolCalls']): number {
  let [most, now] = [0, 0]
  for (const { status, begun } of calls) {
    now = status === 'denied' || (status === 'error' && !begun) ? now + 1 : 0
    most = Math.max(most, now)
  }
  return most
}
