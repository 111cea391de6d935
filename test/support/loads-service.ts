/** The service, which also logs each module of jose and of `src/service/fronts/mcp` (but its endpoints) it loads. */
import { registerHooks } from 'node:module'

registerHooks({
  load(url, context, nextLoad) {
    const [, module] = /\/(?:fronts|node_modules)\/((?:mcp|jose)\/(?!endpoints\.ts).*)$/.exec(url) ?? []
    if (module !== undefined) process.stdout.write(`${JSON.stringify({ level: 'info', message: 'loaded', module })}\n`)
    return nextLoad(url, context)
  },
})

await import('../../src/service/runtime/node/index.ts')
