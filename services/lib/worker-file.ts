/** Where the entry `workers/<name>.ts` lies: as it is, or built, beside the bundle. */
export function workerFile (name: string): URL {
  return import.meta.url.endsWith('.ts')
    ? new URL(`../../workers/${name}.ts`, import.meta.url)
    : new URL(`./workers/${name}.js`, import.meta.url)
}
