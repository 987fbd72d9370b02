import type { Clock } from '../../lib/clock.ts'
import { withDeadline } from '../../lib/deadline.ts'
import { knownModel } from './known-models.ts'
import type { ToolLimits } from './learned-limits.ts'
import type { ModelInfo, Provider } from './provider.ts'

/** The context windows, in tokens, that are assumed if nothing else is known. The offline model has no limit. */
const DEFAULTS: Record<Provider['kind'], number> = { offline: Infinity, gateway: 200_000, direct: 32_768 }
/**
 * The context window, in tokens, that is assumed for a model of a local server. The server might have been started with a smaller window
 * than the model has.
 */
const LOCAL_DEFAULT = 8_192
/** How long the answer of a local server about its context window is cached, in milliseconds. */
const BELIEVED_MS = 60_000
/** The smallest context window of any usable model, in tokens. A conversation of at most SAFE_SHARE of this size needs no look-up. */
const SMALLEST_WINDOW = 8_192
const SAFE_SHARE = 0.5
/**
 * If a server reports less than this share of the estimated tokens of a prompt, it might have cut the prompt. Prompts of fewer than
 * SMALLEST_CUT tokens are not checked.
 */
const CUT_SHARE = 0.75
const SMALLEST_CUT = 1_500
/** How long a server may take to say which window it uses, milliseconds. */
const LOOK_MS = 2_000
/** The number of models whose observed windows are remembered. */
const MOST_SEEN = 500
/**
 * Matches the limit in an error message: "maximum context length is 8192 tokens", "210000 tokens > 200000 maximum", "context size (4096".
 */
const NAMED_LIMIT = [
  /(?:context (?:length|window|size)|n_ctx|max_model_len|maximum (?:input )?(?:tokens|length))\D{0,40}?(\d[\d,]{2,9})/i,
  />\s*(\d[\d,]{2,9})\s*maximum/i,
  /tokens allowed\D{0,10}(\d[\d,]{2,9})/i,
  /(?:exceeds?|limit of|maximum of|supports? (?:at most|up to))\D{0,60}?(\d[\d,]{2,9})\s*(?:input )?tokens/i
]

/** The known limits of models; see `createContextWindows` and `createLearnedLimits`. */
export interface ContextWindows extends ToolLimits {
  contextWindow(id: string, tokens: number, signal: AbortSignal): Promise<number>
  /**
   * Returns the context window of a server that has silently cut a prompt to this window; undefined if the server has not cut the prompt,
   * or does not report its window. `sent` is the estimated size of the prompt, `read` the size that the server reports. All are in tokens.
   */
  windowOfCut(id: string, prompt: { sent: number, read: number }, signal: AbortSignal): Promise<number | undefined>
}

interface Parts {
  settings: () => { contextWindows?: Record<string, number> }
  /** Throws if the id names no model. */
  providerOf: (id: string) => Provider
  clock: Clock
  catalog: { find(provider: Provider, id: string, signal: AbortSignal): Promise<ModelInfo | undefined> }
}

/**
 * Creates the look-up of context windows, in tokens. `contextWindow` returns the configured window of the model, or of its provider.
 * Without configuration, a local server is asked for its window. For other servers the result is the window in the provider's model list,
 * but no more than the window that was observed; otherwise the observed window, the window in the table of known models, or a default. The
 * list is not requested for a conversation of few `tokens`.
 */
export function createContextWindows (
  { settings, providerOf, catalog, clock }: Parts
): Pick<ContextWindows, 'contextWindow' | 'windowOfCut'> & { noteRefusal(id: string, words: string): void } {
  const seen = new Map<string, number>()
  /** The windows that local servers reported, by model, and the time of each answer; `clock.now()`. */
  const inUse = new Map<string, { tokens?: number, at: number }>()

  function noteWindow (id: string, tokens: number): void {
    if (seen.size >= MOST_SEEN) seen.delete(seen.keys().next().value!)
    seen.set(id, tokens)
  }

  /**
   * Returns the context window, in tokens, that a local server uses. While the server does not answer, the last known window counts, else
   * LOCAL_DEFAULT.
   */
  async function localWindow (id: string, provider: Provider, signal: AbortSignal): Promise<number> {
    const last = inUse.get(id)
    if (last === undefined || clock.now() - last.at > BELIEVED_MS) {
      const model = id.slice(id.indexOf('/') + 1)
      const tokens = await withDeadline({ clock, ms: LOOK_MS, signal }, async (limit) => provider.windowInUse?.(model, limit))
        .catch(() => undefined)
      signal.throwIfAborted()
      if (inUse.size >= MOST_SEEN) inUse.clear()
      inUse.set(id, { tokens: tokens ?? last?.tokens, at: clock.now() })
    }
    return Math.min(inUse.get(id)?.tokens ?? LOCAL_DEFAULT, seen.get(id) ?? Infinity)
  }

  return {
    async contextWindow (id: string, tokens: number, signal: AbortSignal): Promise<number> {
      const configured = settings().contextWindows ?? {}
      for (const name of [id, id.slice(0, id.indexOf('/'))]) if (Object.hasOwn(configured, name)) return configured[name]
      let provider: Provider
      try {
        provider = providerOf(id)
      } catch {
        return DEFAULTS.gateway
      }
      if (await provider.localServer?.() !== undefined) return localWindow(id, provider, signal)
      const noted = seen.get(id)
      const assumed = noted ?? knownModel(id, provider)?.contextWindow ?? provider.contextWindow ?? DEFAULTS[provider.kind]
      // Only direct providers report context windows in their lists.
      if (provider.kind !== 'direct' || tokens <= SMALLEST_WINDOW * SAFE_SHARE) return assumed
      const listed = (await catalog.find(provider, id, signal))?.contextWindow
      return listed === undefined ? assumed : Math.min(listed, noted ?? Infinity)
    },

    async windowOfCut (id: string, { sent, read }: { sent: number, read: number }, signal: AbortSignal): Promise<number | undefined> {
      if (read === 0 || read > sent * CUT_SHARE || sent < SMALLEST_CUT) return undefined
      const provider = providerOf(id)
      const model = id.slice(id.indexOf('/') + 1)
      const inUse = await withDeadline({ clock, ms: LOOK_MS, signal }, async (limit) => provider.windowInUse?.(model, limit))
        .catch(() => undefined)
      // Servers also report few tokens for a prompt whose beginning was in their cache.
      if (inUse === undefined || inUse >= sent) return undefined
      noteWindow(id, inUse)
      return inUse
    },

    /** Remembers the window that a provider named when it refused a prompt for its length. */
    noteRefusal (id: string, words: string): void {
      const limit = NAMED_LIMIT.map((pattern) => Number(pattern.exec(words)?.[1].replaceAll(',', ''))).find((number) => number >= 256)
      if (limit !== undefined) noteWindow(id, limit)
    }
  }
}
