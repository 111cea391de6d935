/** Processes of readers, so that neither the publisher nor the services share a thread with them. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Latencies, noLatencies } from './latencies.ts'

export interface ReaderProcess {
  pid: number
  /** What was received since the last report. */
  report(): Promise<Latencies>
  kill(): Promise<void>
}

type Message = { connected: number } | { latencies: Latencies } | { failure: string }

/** Resolves when all readers have connected. `entry` calls `serveReports`. */
export async function startReaders(
  entry: URL,
  args: readonly string[],
  onProgress: (connected: number) => void = () => {},
): Promise<ReaderProcess> {
  const child = fork(fileURLToPath(entry), args, { serialization: 'advanced' })
  const exited = once(child, 'exit')
  const connected = Promise.withResolvers<void>()
  let reported = newReport()
  const fail = (message: string) => {
    const error = new Error(`${basename(entry.pathname)}: ${message}`)
    connected.reject(error)
    reported.reject(error)
  }
  child.on('exit', (code, signal) => fail(`exited with ${code ?? signal}`))
  child.on('message', (message: Message) => {
    if ('failure' in message) return fail(message.failure)
    if ('latencies' in message) return reported.resolve(message.latencies)
    onProgress(message.connected)
    if (message.connected === Number(args.at(-1))) connected.resolve()
  })
  await connected.promise
  return {
    pid: child.pid ?? 0,
    async report() {
      child.send('report')
      const latencies = await reported.promise
      reported = newReport()
      return latencies
    },
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

function newReport(): PromiseWithResolvers<Latencies> {
  const report = Promise.withResolvers<Latencies>()
  report.promise.catch(() => {}) // report() rejects with it
  return report
}

export interface Reports {
  latencies(): Latencies
  connected(count: number): void
  fail(error: unknown): void
}

/** For the readers: sends what they have received to the parent when it requests it, and exits with the parent. */
export function serveReports(): Reports {
  let latencies = noLatencies()
  const send = (message: Message) => void process.send?.(message)
  process.on('message', () => {
    send({ latencies })
    latencies = noLatencies()
  })
  process.on('disconnect', () => process.exit())
  return {
    latencies: () => latencies,
    connected: (count) => send({ connected: count }),
    fail: (error) => send({ failure: String(error) }),
  }
}
