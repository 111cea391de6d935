/** Services behind a proxy that counts requests, and the number of runs that a program has started. */
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { startFirstRun } from '../support/first-run.ts'
import { test as sharedTest } from '../support/fixtures.ts'
import type { Service } from '../support/service.ts'

/** A request for a workflow that has arrived at the proxy. */
export interface Counted {
  /** Method and path, such as `POST /workflow/run`. */
  line: string
  /** Its `Idempotency-Key`, if any. */
  key: string | undefined
  /** The one that got it. */
  service: Service
}

export interface Replicas {
  /** Of the proxy, and the `SERVICE_PUBLIC_URL` of the replicas. */
  url: string
  /** New connections go to this one, until `prefer` says otherwise. */
  first: Service
  others: Service[]
  prefer(service: Service): void
  /** Returns the requests since the last call. */
  takeRequests(): Counted[]
  /** Resolves when the program has sent this many requests since the last `takeRequests`, or has ended. */
  untilRequested(count: number, program: Promise<unknown>): Promise<unknown>
  /** The next response is lost, with its connection. */
  loseNextResponse(): void
}

/** A start that can be told from those of other tests. */
export interface Marked {
  mark: string
  /** The body of `run`. */
  body: string
}

/** The workflow never ends, so a `run` ends with its timeout. */
export function markedRun(fields: object = {}): Marked {
  const mark = crypto.randomUUID()
  const run = { workflowName: 'neverEnds', input: null, timeout: '1s', ...fields }
  return { mark, body: JSON.stringify({ ...run, searchAttributes: { OptionKeyword: mark } }) }
}

const REQUEST = /^((?:GET|POST|PUT|PATCH|DELETE) \/workflow\/\S+) HTTP\/1\.1\r\n/

export const test = sharedTest
  /** Starts replicas behind a proxy that prefers the first one. */
  .extend('startReplicas', { scope: 'file' }, ({ startService, worker: _, cleanup }) => {
    return async (count: number, env: Record<string, string> = {}): Promise<Replicas> => {
      const requests: Counted[] = []
      const services = new Map<string, Service>()
      const proxy = await startTcpProxy('127.0.0.1:0', {
        onData(data, target) {
          const head = data.toString('latin1')
          const line = REQUEST.exec(head)?.[1]
          const service = services.get(target)
          if (line === undefined || service === undefined) return
          requests.push({ line, key: /^idempotency-key: *(.+)\r$/im.exec(head)?.[1], service })
        },
      })
      cleanup.defer(() => proxy.close())
      const url = `http://${proxy.address}`
      // A name, because no response may show an address of this machine.
      const publicUrl = url.replace('127.0.0.1', 'localhost')
      const start = async () => {
        const service = await startService({ env: { ...env, SERVICE_DOCS_ON: 'true', SERVICE_PUBLIC_URL: publicUrl } })
        services.set(new URL(service.url).host, service)
        await startFirstRun(service, 'nothing')
        return service
      }
      const [first, ...others] = await Promise.all([start(), ...Array.from({ length: count - 1 }, start)])
      const prefer = (service: Service) => proxy.retarget(new URL(service.url).host)
      prefer(first)
      return {
        url,
        first,
        others,
        prefer,
        takeRequests: () => requests.splice(0),
        untilRequested: (wanted, program) =>
          Promise.race([program, until(`${wanted} requests have arrived`, () => requests.length >= wanted)]),
        loseNextResponse: proxy.loseNextResponse,
      }
    }
  })
  /** One service behind a proxy. */
  .extend('counted', { scope: 'file' }, ({ startReplicas }) => startReplicas(1))

  /** Returns the ids of the runs with this mark that the engine lists already. */
  .extend('listRuns', { scope: 'file' }, ({ client }) => async (mark: string): Promise<string[]> => {
    const ids: string[] = []
    const runs = client.workflow.list({ query: `OptionKeyword = "${mark}"` })
    for await (const { workflowId } of runs) ids.push(workflowId)
    return ids
  })
  /** Resolves with the ids of all runs with this mark. */
  .extend('runsOf', { scope: 'file' }, ({ service, listRuns }) => async (mark: string): Promise<string[]> => {
    // When the last run is listed, so are those that were started before it.
    const last = `last-${mark}`
    await service.start('nothing', null, { workflowId: last, searchAttributes: { OptionKeyword: mark } })
    const ids = await until('the last run is listed', async () => {
      const listed = await listRuns(mark)
      return listed.includes(last) && listed
    })
    return ids.filter((id) => id !== last)
  })
