import type { Engine } from '../domain/engine.ts'
import type { EngineOptions } from './engine.ts'

/** The engine, its rooms loaded with the first call: a service listens before it has read them. */
export function lazyEngine(options: EngineOptions): Engine {
  let loaded: Engine | null = null
  // Kept is the engine, not the wait for it: on workerd a wait belongs to its request, and one that failed would stay so for ever.
  const engine = async () => {
    if (loaded !== null) return loaded
    const { createEngine } = await import('./engine.ts')
    loaded ??= createEngine(options)
    return loaded
  }
  return {
    start: async (...args) => (await engine()).start(...args),
    wait: async (...args) => (await engine()).wait(...args),
    describe: async (...args) => (await engine()).describe(...args),
    read: async (...args) => (await engine()).read(...args),
    input: async (...args) => (await engine()).input(...args),
    signal: async (...args) => (await engine()).signal(...args),
    query: async (...args) => (await engine()).query(...args),
    update: async (...args) => (await engine()).update(...args),
    updateWithStart: async (...args) => (await engine()).updateWithStart(...args),
    cancel: async (...args) => (await engine()).cancel(...args),
    terminate: async (...args) => (await engine()).terminate(...args),
    async *readEntries(...args) {
      yield* (await engine()).readEntries(...args)
    },
    decode: async (...args) => (await engine()).decode(...args),
    lastPolledAt: async (...args) => (await engine()).lastPolledAt(...args),
    readiness: async (...args) => (await engine()).readiness(...args),
    ping: async (...args) => (await engine()).ping(...args),
  }
}
