import { readdirSync, readFileSync } from 'node:fs'
import { ROOT } from './bundle.ts'

interface Package {
  name: string
  version: string
  /** Old packages have an object here. */
  license?: string | { type: string }
  author?: string | { name: string }
}

/** Licences, from the readme, of packages whose package.json names none. */
const STATED: Record<string, string> = { 'combine-errors': 'MIT' }

const LICENSE_FILE = /^(licen[cs]e|copying|notice)/i
const PACKAGE_FOLDER = /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/
const RULE = '-'.repeat(80)

/** Returns the folders of the packages to which these bundled files belong, relative to ROOT, sorted. */
export function packageFolders (bundled: Iterable<string>): string[] {
  return [...new Set([...bundled].flatMap((path) => PACKAGE_FOLDER.exec(path)?.[0] ?? []))].sort()
}

export const readPackage = (folder: string): Package => JSON.parse(readFileSync(`${ROOT}${folder}/package.json`, 'utf8'))

/**
 * Returns the legal notices for the bundled files: the licence of each package, and the licence comments in its files. Throws if a package
 * has no licence.
 */
export function noticesOf (bundled: Iterable<string>, comments: Iterable<string>): string {
  const packages = withEachTextOnce(
    packageFolders(bundled).map((folder) => ({ head: headOf(readPackage(folder)), license: licenseOf(folder) }))
  )
  return [
    'local-agent-service contains the software below, each under the licence that follows its name, or the names of several.',
    ...packages,
    `Swagger UI 5.34.0 (Apache-2.0), in @fastify/swagger-ui\n\n${standard('swagger-ui')}\n${standard('Apache-2.0')}`,
    `PDF.js (Apache-2.0), Copyright Mozilla Foundation, in unpdf\n\n${standard('Apache-2.0')}`,
    // The generated client contains code from the template of its generator.
    `${headOf(readPackage('node_modules/@hey-api/openapi-ts'))}, in the client\n\n${licenseOf('node_modules/@hey-api/openapi-ts')}`,
    `Notices within the files of these packages\n\n${[...comments].filter((comment) => comment !== '').sort().join('\n\n')}`
  ].map((section) => section.trim()).join(`\n\n${RULE}\n\n`) + '\n'
}

/** A line that names a copyright holder. */
const HOLDER = /^\s*Copyright\s+(?:\(c\)|©|\d{4}|[A-Z])/

/** Returns the names and copyright holders of packages with their licence. Packages with the same licence text share one entry. */
function withEachTextOnce (packages: Array<{ head: string, license: string }>): string[] {
  const texts = new Map<string, { license: string, heads: Set<string> }>()
  for (const { head, license } of packages) {
    const lines = license.split('\n')
    const rest = lines.filter((line) => !HOLDER.test(line)).join('\n').trim()
    const words = rest.replaceAll(/\s+/g, ' ')
    const known = texts.get(words) ?? { license: rest, heads: new Set() }
    known.heads.add([head, ...lines.filter((line) => HOLDER.test(line)).map((line) => `  ${line.trim()}`)].join('\n'))
    texts.set(words, known)
  }
  return [...texts.values()].map(({ license, heads }) => `${[...heads].join('\n')}\n\n${license}`)
}

const headOf = (pkg: Package) => `${pkg.name} ${pkg.version} (${licenseNameOf(pkg)})`

function licenseNameOf ({ name, license = STATED[name] }: Package): string {
  if (license === undefined) throw new Error(`${name} is bundled but states no licence: scripts/notices.ts needs it.`)
  return typeof license === 'string' ? license : license.type
}

function licenseOf (folder: string): string {
  const files = readdirSync(`${ROOT}${folder}`).filter((name) => LICENSE_FILE.test(name) && !/\.[cm]?js$/.test(name)).sort()
  if (files.length > 0) return files.map((name) => readFileSync(`${ROOT}${folder}/${name}`, 'utf8').trim()).join('\n\n')
  const pkg = readPackage(folder)
  const holder = (typeof pkg.author === 'string' ? pkg.author : pkg.author?.name) ?? `the authors of ${pkg.name}`
  return `Copyright (c) ${holder}\n\n${standard(licenseNameOf(pkg))}`
}

/** Returns a text of scripts/notices/. Throws if there is no text for the licence. */
const standard = (name: string) => readFileSync(`${ROOT}scripts/notices/${name}.txt`, 'utf8').trim()
