import { acpClient } from './acp-client.ts'
import { openapiGeneratorGo, openapiGeneratorJava, openapiGeneratorPython, openapiPythonClient, oapiCodegenGo } from './generators.ts'
import { openaiClients } from './openai-clients.ts'
import { pythonClient } from './python-client.ts'
import { schemathesis } from './schemathesis.ts'
import { toolServers } from './tool-servers.ts'
import { CACHE } from './tools.ts'

// Clients in other languages with the built service: that of clients/python, those that generators make of openapi.json, and schemathesis,
// which compares the service with the document.
// npm run test:clients -- --only java    one part, or several: --only java,go

const PARTS: Record<string, () => Promise<string>> = {
  python: pythonClient,
  'openapi-python-client': openapiPythonClient,
  'openapi-generator-python': openapiGeneratorPython,
  java: openapiGeneratorJava,
  go: openapiGeneratorGo,
  'oapi-codegen': oapiCodegenGo,
  openai: openaiClients,
  acp: acpClient,
  schemathesis,
  'tool-servers': toolServers
}

async function main (args: readonly string[]): Promise<void> {
  const at = args.indexOf('--only')
  const names = at === -1 ? Object.keys(PARTS) : args[at + 1].split(',')
  console.log(`What is missing is installed into ${CACHE}.`)
  let failed = 0
  for (const name of names) {
    if (PARTS[name] === undefined) throw new Error(`There is no part ${name}: ${Object.keys(PARTS).join(', ')}`)
    const began = performance.now()
    const seconds = () => `${Math.round((performance.now() - began) / 1_000)} s`
    try {
      console.log(`${name}: ${await PARTS[name]()} (${seconds()})`)
    } catch (error) {
      failed++
      console.error(`${name}: FAILED (${seconds()})\n${(error as Error).message}`)
    }
  }
  if (failed > 0) process.exitCode = 1
}

await main(process.argv.slice(2)).catch((error: Error) => {
  console.error(error.message)
  process.exitCode = 1
})
// A service that a failed check left behind ends with this process.
process.exit()
