import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { createHash } from 'node:crypto'
import { ROOT } from './bundle.ts'

const SOURCE = `${ROOT}console/device/`

/** Builds the page for paired devices. Returns its compressed files, by their names in the pack. Asset names contain a digest. */
export async function bundleDevicePage (): Promise<Map<string, Uint8Array>> {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [`${SOURCE}device.ts`, `${SOURCE}device.css`],
    outdir: 'device',
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    logLevel: 'warning'
  })
  const assets = [
    ...outputFiles.map(({ path, contents }) => ({ name: path.slice(path.lastIndexOf('device.')), contents })),
    { name: 'icon.svg', contents: readFileSync(`${ROOT}console/icon.svg`) }
  ]
  let page = readFileSync(`${SOURCE}index.html`, 'utf8')
  const files = new Map<string, Uint8Array>()
  for (const { name, contents } of assets) {
    const digest = createHash('sha256').update(contents).digest('hex').slice(0, 12)
    const named = name.replace('.', `-${digest}.`)
    page = page.replace(`./assets/${name}`, `./assets/${named}`)
    files.set(`device/assets/${named}`, gzipSync(contents, { level: 9 }))
  }
  files.set('device/index.html', gzipSync(page, { level: 9 }))
  return files
}
