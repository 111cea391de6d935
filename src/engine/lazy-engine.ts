import type { Engine } from '../domain/engine.ts'
import { lazy } from '../lib/lazy.ts'
import type { EngineOptions } from './engine.ts'

/** An engine whose modules are loaded with its first call, so that a service listens earlier. */
export function lazyEngine(options: EngineOptions): Engine {
  const engine = lazy(
    () => import('./engine.ts'),
    ({ createEngine }) => createEngine(options),
  )
  return {
    start: async (...args) => (await engine.get()).start(...args),
    checkStart: async (...args) => (await engine.get()).checkStart(...args),
    // Without an async function of its own: each one that a waiting request is suspended in takes half a KiB.
    wait: (...args) => engine.current?.wait(...args) ?? engine.get().then(({ wait }) => wait(...args)),
    describe: async (...args) => (await engine.get()).describe(...args),
    read: async (...args) => (await engine.get()).read(...args),
    input: async (...args) => (await engine.get()).input(...args),
    signal: async (...args) => (await engine.get()).signal(...args),
    query: async (...args) => (await engine.get()).query(...args),
    update: async (...args) => (await engine.get()).update(...args),
    startUpdate: async (...args) => (await engine.get()).startUpdate(...args),
    pollUpdate: async (...args) => (await engine.get()).pollUpdate(...args),
    updateWithStart: async (...args) => (await engine.get()).updateWithStart(...args),
    signalWithStart: async (...args) => (await engine.get()).signalWithStart(...args),
    cancel: async (...args) => (await engine.get()).cancel(...args),
    terminate: async (...args) => (await engine.get()).terminate(...args),
    pause: async (...args) => (await engine.get()).pause(...args),
    unpause: async (...args) => (await engine.get()).unpause(...args),
    pauseSupported: async (...args) => (await engine.get()).pauseSupported(...args),
    reset: async (...args) => (await engine.get()).reset(...args),
    listRuns: async (...args) => (await engine.get()).listRuns(...args),
    countRuns: async (...args) => (await engine.get()).countRuns(...args),
    searchAttributeTypes: async (...args) => (await engine.get()).searchAttributeTypes(...args),
    events: async (...args) => (await engine.get()).events(...args),
    async *readEntries(...args) {
      yield* (await engine.get()).readEntries(...args)
    },
    decode: async (...args) => (await engine.get()).decode(...args),
    lastPolledAt: async (...args) => (await engine.get()).lastPolledAt(...args),
    readiness: async (...args) => (await engine.get()).readiness(...args),
    ping: async (...args) => (await engine.get()).ping(...args),
  }
}
