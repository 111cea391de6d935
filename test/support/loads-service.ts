/** The service, which also logs each module of `src/mcp` and of jose that it loads. */
import { registerHooks } from 'node:module'

registerHooks({
  load(url, context, nextLoad) {
    const [, module] = /\/(?:src|node_modules)\/((?:mcp|jose)\/.*)$/.exec(url) ?? []
    if (module !== undefined) process.stdout.write(`${JSON.stringify({ level: 'info', message: 'loaded', module })}\n`)
    return nextLoad(url, context)
  },
})

await import('../../src/runtime/node/index.ts')
