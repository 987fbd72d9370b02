import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const SERVICE = process.env.LOCAL_AGENT_URL ?? 'http://127.0.0.1:3001'

/**
 * Restricts the styles of `pages/<name>/` to that page, on which the body has `data-page="<name>"` (`parts/frame.tsx`). The attribute is on
 * the body because dialogs are rendered there, outside of the page's own elements.
 */
const stylesOfPages: Plugin = {
  name: 'styles-of-pages',
  enforce: 'pre',
  transform (css, id) {
    const [, page] = /\/console\/pages\/([^/]+)\/.*\.css$/.exec(id.replaceAll('\\', '/')) ?? []
    return page === undefined ? undefined : { code: `[data-page~=${page}] {\n${css}\n}`, map: null }
  }
}

/**
 * The build of the console. `npm run console` serves it with hot reload, for a service at LOCAL_AGENT_URL. The proxy removes the origin of
 * the development server, which the service would refuse.
 */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/console/',
  plugins: [stylesOfPages, react()],
  build: {
    target: 'es2023',
    // Data URLs and inline modules would need a less strict content security policy.
    assetsInlineLimit: 0,
    // A single style sheet has a fixed order of rules, whichever page is visited first.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    license: false
  },
  worker: { format: 'es' },
  server: {
    host: '127.0.0.1',
    proxy: {
      '^/(?!console(/|$)|@|node_modules/)': {
        target: SERVICE,
        changeOrigin: true,
        configure: (proxy) => {
          proxy.on('proxyReq', (request) => {
            request.removeHeader('origin')
            request.removeHeader('sec-fetch-site')
          })
        }
      }
    }
  }
})
