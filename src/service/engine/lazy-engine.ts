import { lazy } from '../../shared/lib/cache.ts'
import type { Engine } from '../model/engine.ts'
import type { EngineOptions } from './engine.ts'

type AnyCall = (...args: unknown[]) => unknown

/** An engine whose modules are loaded with its first call, so that a service listens earlier. */
export function lazyEngine(options: EngineOptions): Engine {
  const engine = lazy(
    () => import('./engine.ts'),
    ({ createEngine }) => createEngine(options) as unknown as Record<string, AnyCall>,
  )
  const calls = new Map<PropertyKey, AnyCall>()

  // Not async: each async function in which a waiting request is suspended takes half a KiB.
  function later(name: string): AnyCall {
    const act = (loaded: Record<string, AnyCall>, args: unknown[]) => loaded[name]?.(...args)
    return (...args) => {
      const { current } = engine
      return current === undefined ? engine.get().then((loaded) => act(loaded, args)) : act(current, args)
    }
  }

  const readEntries: Engine['readEntries'] = async function* (...args) {
    const { readEntries } = (await engine.get()) as unknown as Engine
    yield* readEntries(...args)
  }

  return new Proxy({ readEntries } as Engine, {
    get(own, name) {
      // An object with a method \`then\` would be awaited as if it were a promise.
      if (name in own || typeof name === 'symbol' || name === 'then') return Reflect.get(own, name)
      const call = calls.get(name) ?? later(name)
      calls.set(name, call)
      return call
    },
  })
}
