/** A worker of samples with both clients in front of it. */
import { Client, type ClientOptions, Connection } from '@temporalio/client'
import { afterAll, beforeAll, inject } from 'vitest'
import { type Api, makeApi } from '../support/api.ts'
import { serve } from '../support/serve.ts'
import type { TestWorker } from '../support/worker.ts'
import { type Clients, httpClient, sdkClient } from './sample-client.ts'

export const TRANSPORTS = ['grpc', 'http'] as const
export type TransportName = (typeof TRANSPORTS)[number]

export interface SampleSetup {
  transport: TransportName
  startWorker(address: string, taskQueue: string): Promise<TestWorker>
  /** Of Temporal's client, read when it starts. */
  dataConverter?: () => ClientOptions['dataConverter']
  /** Of the service, read when it starts. */
  env?: () => Record<string, string>
}

export interface Samples extends Clients {
  api: Api
  client: Client
  connection: Connection
  catalog: string
}

/** Of the suite in which it is called. */
export function useSamples({
  transport,
  startWorker,
  dataConverter = () => ({}),
  env = () => ({}),
}: SampleSetup): () => Samples {
  let samples: Samples | undefined
  const ends: (() => Promise<void>)[] = []

  beforeAll(async () => {
    const { address, httpUrl } = inject('engine')
    const catalog = `samples-${crypto.randomUUID()}`
    const connection = await Connection.connect({ address })
    ends.push(() => connection.close())
    const client = new Client({ connection, dataConverter: dataConverter() ?? {} })
    const worker = await startWorker(address, catalog)
    ends.push(() => worker.stop())
    const service = serve({
      ENGINE_TRANSPORT: transport,
      ENGINE_HTTP_URL: httpUrl ?? '',
      SERVICE_CATALOG_ID: catalog,
      ...env(),
    })
    ends.push(() => service.close())
    const api = makeApi({ fetch: service.fetch })
    samples = { api, client, connection, catalog, http: httpClient(api, catalog), sdk: sdkClient(client, catalog) }
  })

  afterAll(async () => {
    for (const end of ends.reverse()) await end()
  })

  return () => {
    if (samples === undefined) throw new Error('The samples have not been started')
    return samples
  }
}
