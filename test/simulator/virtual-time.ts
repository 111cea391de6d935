/**
 * Virtual time: replaces the clocks, timers and random numbers of this process by ones that a seed repeats. Nothing
 * happens at the same time: one timer after the other, and all promises that it settles before the next.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import { hexOf, randomOf } from './random.ts'

export interface Timer {
  at: number
  /** The process to which it belongs. */
  owner: string
  act(): void
  /** Of an interval. */
  everyMs?: number
}

export interface VirtualTime {
  /** Milliseconds since the start. */
  now(): number
  /** Milliseconds since the epoch, on a clock that is right. */
  wallNow(): number
  /** Calls `act` later, for the process that calls this, or for `owner`. */
  after(ms: number, act: () => void, owner?: string): Timer
  cancel(timer: Timer): void
  sleep(ms: number): Promise<void>
  /** Runs `act` as code of this process: its timers belong to it, and it reads its clock. */
  as<T>(owner: string, act: () => T): T
  /** The process whose code runs now. */
  owner(): string
  /** Ends a process: its timers never fire. */
  kill(owner: string): void
  /** How many timers a process has. */
  timersOf(owner: string): number
  /** Sets how far the clock of a process is ahead. */
  setSkew(owner: string, ms: number): void
  /** Continues until `isDone`, or until nothing is left to do, or for `maxMs`. Resolves with `isDone()`. */
  run(isDone: () => boolean, maxMs: number): Promise<boolean>
  /** Puts everything back. */
  restore(): void
}

const EPOCH = Date.UTC(2030, 0, 1)
const WORLD = 'world'

// One for all simulations, and one way into each process: with each value that is set, Node copies all that were ever
// set in what awaits.
const owners = new AsyncLocalStorage<string>()
const entries = new Map<string, ReturnType<typeof AsyncLocalStorage.snapshot>>()

function enter<T>(owner: string, act: () => T): T {
  const entry = entries.get(owner) ?? owners.run(owner, () => AsyncLocalStorage.snapshot())
  entries.set(owner, entry)
  return entry(act)
}

export function installVirtualTime(seed: number): VirtualTime {
  const dead = new Set<string>()
  const skews = new Map<string, number>()
  // In the order in which they fire.
  const timers: Timer[] = []
  let now = 0

  const ownerNow = () => owners.getStore() ?? WORLD
  const wallNow = () => EPOCH + now + (skews.get(ownerNow()) ?? 0)

  function insert(timer: Timer): void {
    let [from, to] = [0, timers.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if ((timers[middle]?.at ?? 0) <= timer.at) from = middle + 1
      else to = middle
    }
    timers.splice(from, 0, timer)
  }

  function add(
    ms: number,
    act: () => void,
    { owner = ownerNow(), everyMs }: { owner?: string; everyMs?: number } = {},
  ) {
    const timer: Timer = {
      at: now + Math.max(0, Math.round(ms) || 0),
      owner,
      act,
      ...(everyMs !== undefined && { everyMs }),
    }
    if (!dead.has(owner)) insert(timer)
    return timer
  }

  function cancel(timer: Timer): void {
    const at = timers.indexOf(timer)
    if (at !== -1) timers.splice(at, 1)
  }

  const restore = replaceGlobals({ seed, wallNow, now: () => now, add, cancel })

  return {
    now: () => now,
    wallNow: () => EPOCH + now,
    after: (ms, act, owner) => add(ms, act, owner === undefined ? {} : { owner }),
    cancel,
    sleep: (ms) => new Promise((resolve) => void add(ms, resolve)),
    as: enter,
    owner: ownerNow,
    kill(owner) {
      dead.add(owner)
      for (const timer of timers.filter((one) => one.owner === owner)) cancel(timer)
    },
    timersOf: (owner) => timers.filter((timer) => timer.owner === owner).length,
    setSkew: (owner, ms) => void skews.set(owner, ms),
    async run(isDone, maxMs) {
      const endAt = now + maxMs
      await settle()
      while (!isDone()) {
        const [timer] = timers
        if (timer === undefined || timer.at > endAt) return isDone()
        timers.shift()
        now = Math.max(now, timer.at)
        if (timer.everyMs !== undefined) insert(Object.assign(timer, { at: now + timer.everyMs }))
        enter(timer.owner, timer.act)
        await settle()
      }
      return true
    },
    restore,
  }
}

interface Clock {
  seed: number
  wallNow(): number
  now(): number
  add(ms: number, act: () => void, options?: { everyMs?: number }): Timer
  cancel(timer: Timer): void
}

type Act = (...args: unknown[]) => void

/** Replaces what code reads time and chance from. Returns a function that puts it back. */
function replaceGlobals({ seed, wallNow, now, add, cancel }: Clock): () => void {
  const random = randomOf(seed, 'globals')
  class VirtualDate extends Date {
    constructor(...args: unknown[]) {
      super(...((args.length === 0 ? [wallNow()] : args) as [number]))
    }
    static override now = wallNow
  }
  const handle = (timer: Timer) => Object.assign(timer, { unref: () => timer, ref: () => timer, hasRef: () => true })
  const repeat = (act: Act, ms = 1, ...args: unknown[]) =>
    handle(add(ms, () => act(...args), { everyMs: Math.max(1, ms) }))
  const restoreGlobals = replace(globalThis, {
    Date: VirtualDate,
    setTimeout: (act: Act, ms = 1, ...args: unknown[]) => handle(add(Math.max(1, ms), () => act(...args))),
    setInterval: repeat,
    clearTimeout: cancel,
    clearInterval: cancel,
  })
  const restoreOthers = [
    replace(performance, { now }),
    replace(Math, { random: () => random.below(2 ** 32) / 2 ** 32 }),
    replace(crypto, {
      randomUUID: () => [8, 4, 4, 4, 12].map((digits) => hexOf(random, digits)).join('-'),
      getRandomValues: (bytes: Uint8Array) => {
        for (const at of bytes.keys()) bytes[at] = random.below(256)
        return bytes
      },
    }),
    replace(AbortSignal, {
      timeout(ms: number) {
        const controller = new AbortController()
        add(ms, () => controller.abort(new DOMException('The operation timed out', 'TimeoutError')))
        return controller.signal
      },
    }),
    replaceCrypto(),
  ]
  return () => {
    restoreGlobals()
    for (const restore of restoreOthers) restore()
  }
}

const CRYPTO = ['decrypt', 'deriveBits', 'encrypt', 'importKey', 'sign', 'verify'] as const

// How many operations of WebCrypto have not settled.
let pendingCrypto = 0

/** WebCrypto works on threads, which end in any order: here one operation begins when the one before has ended. */
function replaceCrypto(): () => void {
  const { subtle } = crypto
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = (name: (typeof CRYPTO)[number]) => {
    const operation = subtle[name].bind(subtle) as (...args: unknown[]) => Promise<unknown>
    return (...args: unknown[]) => {
      pendingCrypto++
      const done = last.then(() => operation(...args)).finally(() => pendingCrypto--)
      last = done.catch(() => undefined)
      return done
    }
  }
  return replace(subtle, {
    ...Object.fromEntries(CRYPTO.map((name) => [name, inTurn(name)])),
    // The most frequent one, without a thread.
    digest: async (name: string, data: Uint8Array) => {
      const hash = createHash(name.replace('-', '')).update(data).digest()
      return hash.buffer.slice(hash.byteOffset, hash.byteOffset + hash.byteLength)
    },
  })
}

function replace(target: object, values: object): () => void {
  const before = Object.keys(values).map((key) => [key, Object.getOwnPropertyDescriptor(target, key)] as const)
  for (const [key, value] of Object.entries(values))
    Object.defineProperty(target, key, { value, configurable: true, writable: true })
  return () => {
    for (const [key, descriptor] of before) {
      if (descriptor === undefined) Reflect.deleteProperty(target, key)
      else Object.defineProperty(target, key, descriptor)
    }
  }
}

const { setImmediate } = globalThis

/** Waits until all promises have settled that need neither a timer nor a message. */
async function settle(): Promise<void> {
  do await new Promise<void>((resolve) => void setImmediate(resolve))
  while (pendingCrypto > 0)
}
