import { writeFileSync } from 'node:fs'
import { MODEL_CONFIGS } from 'llm-zoo'
import { knownName } from '../services/models/providers/known-models.ts'

// node scripts/known-models.ts <YYYY-MM-DD>: writes the fallback table of context lengths and prices, from the public list in the package
// llm-zoo. The date is the day on which the list was read.

const [day] = process.argv.slice(2)
if (!/^\d{4}-\d{2}-\d{2}$/.test(day ?? '')) throw new Error('Usage: node scripts/known-models.ts <YYYY-MM-DD>')
/** Models for which the list gives the answer length instead of the context length. */
const WRONG = new Set(['gemini-2-5-flash-lite-preview-09-2025'])
const MAKERS = new Set(['anthropic', 'openai', 'google', 'xai', 'deepseek', 'moonshot'])
const models: Record<string, [window: number, input: number, output: number, cachedShare?: number]> = {}
for (const each of Object.values(MODEL_CONFIGS)) {
  const { fullName, provider, contextWindow, maxOutputTokens, inputPrice, outputPrice, capabilities } = each
  // A context length that is not larger than the answer length is an error in the list.
  if (!MAKERS.has(provider) || !contextWindow || contextWindow <= (maxOutputTokens ?? 0)) continue
  const name = knownName(fullName)
  if (WRONG.has(name)) continue
  // Variants of a model differ in price; the plain variant is the cheapest.
  if (models[name] !== undefined && models[name][1] <= inputPrice) continue
  const share = capabilities?.cacheDiscountFactor
  models[name] = share ? [contextWindow, inputPrice, outputPrice, share] : [contextWindow, inputPrice, outputPrice]
}
const lines = Object.keys(models).sort().map((name) => `    ${JSON.stringify(name)}: ${JSON.stringify(models[name])}`)
const text = `{\n  "day": "${day}",\n  "models": {\n${lines.join(',\n')}\n  }\n}\n`
writeFileSync(new URL('../services/models/providers/known-models.json', import.meta.url), text)
