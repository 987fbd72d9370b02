import { createRequire } from 'node:module'
import type { Plugin } from 'esbuild'

const require = createRequire(import.meta.url)

/**
 * Modules that are imported at start-up but used only by later requests. In the bundle, each is replaced by getters for its exports, which
 * load the module at their first use.
 */
const LATE = [
  'ajv',
  'ajv/dist/2020.js',
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  'fast-json-stringify',
  'node:https',
  'node:http2'
]

const NAMESPACE = 'late'

/** The validator that the MCP SDK uses for results. Results are not validated here (`acceptAll`), so no bundle contains it. */
const UNUSED = { filter: /^ajv(-formats)?$/, by: '@modelcontextprotocol' }

/** An esbuild plugin that defers the LATE modules, and leaves the UNUSED modules and the native part of LevelDB out of the bundle. */
export const late: Plugin = {
  name: NAMESPACE,
  setup (build) {
    build.onResolve(
      { filter: UNUSED.filter },
      ({ path, importer }) => importer.includes(UNUSED.by) ? { path, namespace: 'unused' } : undefined
    )
    build.onLoad({ filter: /./, namespace: 'unused' }, () => ({ contents: 'module.exports = {}' }))
    build.onResolve({ filter: new RegExp(`^(${LATE.join('|')})$`) }, ({ path, namespace }) => {
      if (namespace !== NAMESPACE) return { path, namespace: NAMESPACE }
      return path.startsWith('node:') ? { path, external: true } : undefined
    })
    build.onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) => ({ contents: lazyModule(path), resolveDir: import.meta.dirname }))
    build.onResolve(
      { filter: /^\.\/binding$/ },
      ({ importer }) => importer.includes('classic-level') ? { path: 'classic-level/binding.js', external: true } : undefined
    )
  }
}

/** Returns the source of a CommonJS module with the same exports. It loads the real module when an export is first used. */
function lazyModule (path: string): string {
  const real = require(path)
  const reserved = ['length', 'name', 'prototype', 'arguments', 'caller']
  const names = Object.getOwnPropertyNames(real).filter((name) => name !== '__esModule' && !reserved.includes(name))
  return [
    'let loaded',
    `const real = () => loaded ??= require(${JSON.stringify(path)})`,
    typeof real === 'function' ? 'module.exports = function (...args) { return new.target ? new (real())(...args) : real()(...args) }' : '',
    real.__esModule ? 'Object.defineProperty(module.exports, "__esModule", { value: true })' : '',
    `for (const name of ${
      JSON.stringify(names)
    }) Object.defineProperty(module.exports, name, { get: () => real()[name], enumerable: true })`
  ].join('\n')
}
