import { createClient } from '@hey-api/openapi-ts'
import { ROOT } from '../bundle.ts'

/** Generates the TypeScript client of a document into a folder, which is emptied first. */
export async function generateClient (document: object, path: string) {
  await createClient({
    input: document as Record<string, unknown>,
    output: { path, importFileExtension: '.ts', clean: true },
    plugins: ['@hey-api/typescript', '@hey-api/sdk', { name: '@hey-api/client-fetch', runtimeConfigPath: `${ROOT}client/config.ts` }],
    logs: { level: 'silent' }
  })
}
