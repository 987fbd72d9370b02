import { writeFileSync } from 'node:fs'
import { ROOT } from './bundle.ts'
import { generateClient } from './openapi/client.ts'
import { makeDocument, textOf } from './openapi/document.ts'

/** Refreshes what is made from the schemas: openapi.json, and the client made from that. */
const { document } = await makeDocument()
writeFileSync(`${ROOT}openapi.json`, textOf(document))
await generateClient(document, `${ROOT}client/generated`)
