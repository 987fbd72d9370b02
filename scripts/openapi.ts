import { writeFileSync } from 'node:fs'
import { ROOT } from './bundle.ts'
import { generateClient } from './openapi/client.ts'
import { makeDocument, textOf } from './openapi/document.ts'

/** Regenerates openapi.json from the schemas, and the client from openapi.json. */
const { document } = await makeDocument()
writeFileSync(`${ROOT}openapi.json`, textOf(document))
await generateClient(document, `${ROOT}client/generated`)
