/** Returns the URL of the worker entry `workers/<name>.ts`, or of its built file beside the bundle. */
export function workerFile (name: string): URL {
  return import.meta.url.endsWith('.ts')
    ? new URL(`../../workers/${name}.ts`, import.meta.url)
    : new URL(`./workers/${name}.js`, import.meta.url)
}
