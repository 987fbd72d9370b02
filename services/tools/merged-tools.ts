import type { Clock } from '../lib/clock.ts'
import { settlesWithin } from '../lib/deadline.ts'
import { createMerge, type MergedTool, type ToolSource } from './sources.ts'

/** How long a step waits for tool servers that are connecting since the start. */
const STEP_WAIT_MS = 3_000
/** How long a call waits for its tool server that is being connected; one of an unknown tool, for all of them. */
const CALL_WAIT_MS = 30_000

/** Resolves when the sources that are still connecting have settled, at the latest after `ms` milliseconds. */
type Settled = (ms: number, signal: AbortSignal) => Promise<void>

/** Keeps the sources of tools beside the built-in ones, and their tools under the names that they were given. */
export function createMergedTools ({ builtin, clock }: { builtin: readonly string[], clock: Clock }) {
  const mergeAll = createMerge(builtin)
  let sources = new Map<string, ToolSource>()
  let merged = new Map<string, MergedTool>()
  let settled: Settled = async () => {}
  let onMerge = () => {}

  // Tools are in Maps, so that a call of "constructor" finds nothing.
  const find = (name: string): MergedTool | undefined => builtin.includes(name) ? undefined : merged.get(name)
  const sourceOf = (name: string): ToolSource | undefined => {
    const tool = find(name)
    return tool === undefined ? undefined : sources.get(tool.source)
  }
  const mayBeCalled = (name: string): boolean => {
    const source = sourceOf(name)
    return source !== undefined && (source.available || source.connecting !== undefined)
  }

  return {
    find,
    /** Whether the source of a tool is connected, or being connected. */
    mayBeCalled,
    all: (): MergedTool[] => [...merged.values()],
    sources: (): ToolSource[] => [...sources.values()],

    /** Says why a tool cannot be called, a sentence; undefined for one that can, and for no tool. */
    causeOf (name: string): string | undefined {
      const source = sourceOf(name)
      if (source === undefined || mayBeCalled(name)) return undefined
      return source.cause ?? `The tool server ${JSON.stringify(source.name)} is not connected.`
    },

    /** Replaces the sources. On a clash of names the earlier source wins. */
    merge (all: ToolSource[], wait: Settled = settled): void {
      sources = new Map(all.map((source) => [source.name, source]))
      merged = mergeAll(all)
      settled = wait
      onMerge()
    },

    /** Has the listener called after each merge. */
    watch (listener: () => void): void {
      onMerge = listener
    },

    settled: (signal: AbortSignal): Promise<void> => settled(STEP_WAIT_MS, signal),

    /** Waits for a tool whose source is being connected, or, where it is not `known`, for what sources may still bring. */
    async arrival (name: string, known: boolean, signal: AbortSignal): Promise<void> {
      const { available = false, connecting } = sourceOf(name) ?? {}
      if (!available && connecting !== undefined) await settlesWithin({ clock, ms: CALL_WAIT_MS, signal }, connecting)
      else if (!known) await settled(CALL_WAIT_MS, signal)
      signal.throwIfAborted()
    }
  }
}
