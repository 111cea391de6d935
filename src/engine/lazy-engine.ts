import type { Engine } from '../domain/model/engine.ts'
import { lazy } from '../lib/lazy.ts'
import type { EngineOptions } from './engine.ts'

type Asynchronous = Exclude<keyof Engine, 'readEntries'>

/** An engine whose modules are loaded with its first call, so that a service listens earlier. */
export function lazyEngine(options: EngineOptions): Engine {
  const engine = lazy(
    () => import('./engine.ts'),
    ({ createEngine }) => createEngine(options),
  )

  // Not async: each async function in which a waiting request is suspended takes half a KiB.
  function later<Name extends Asynchronous>(name: Name): Engine[Name] {
    const call = (...args: unknown[]) => {
      const { current } = engine
      return current === undefined ? engine.get().then((loaded) => act(loaded, args)) : act(current, args)
    }
    const act = (loaded: Engine, args: unknown[]) => (loaded[name] as (...args: unknown[]) => unknown)(...args)
    return call as Engine[Name]
  }

  return {
    start: later('start'),
    checkStart: later('checkStart'),
    wait: later('wait'),
    describe: later('describe'),
    read: later('read'),
    input: later('input'),
    signal: later('signal'),
    query: later('query'),
    update: later('update'),
    startUpdate: later('startUpdate'),
    pollUpdate: later('pollUpdate'),
    findMessage: later('findMessage'),
    updateWithStart: later('updateWithStart'),
    signalWithStart: later('signalWithStart'),
    cancel: later('cancel'),
    terminate: later('terminate'),
    pause: later('pause'),
    unpause: later('unpause'),
    pauseSupported: later('pauseSupported'),
    reset: later('reset'),
    reportActivity: later('reportActivity'),
    endedActivity: later('endedActivity'),
    listRuns: later('listRuns'),
    countRuns: later('countRuns'),
    searchAttributeTypes: later('searchAttributeTypes'),
    events: later('events'),
    openStream: later('openStream'),
    publish: later('publish'),
    async *readEntries(...args) {
      yield* (await engine.get()).readEntries(...args)
    },
    decode: later('decode'),
    lastPolledAt: later('lastPolledAt'),
    readiness: later('readiness'),
    ping: later('ping'),
  }
}
