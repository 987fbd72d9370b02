import { createClient } from '@hey-api/openapi-ts'

/** Generates the TypeScript client of a document into a folder, which is emptied first. */
export async function generateClient (document: object, path: string) {
  await createClient({
    input: document as Record<string, unknown>,
    output: { path, importFileExtension: '.ts', clean: true },
    plugins: ['@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch'],
    logs: { level: 'silent' }
  })
}
