/** The transports over which the model is compared with a real server. */
import { grpcTransport } from '../../../src/service/engine/transport/grpc/transport.ts'
import { httpApiTransport } from '../../../src/service/engine/transport/http/transport.ts'
import type { Transport } from '../../../src/service/engine/transport/transport.ts'

export interface Over {
  name: string
  transportTo(engine: { address: string; httpUrl: string | null }): Transport
}

export const OVER = {
  grpc: { name: 'gRPC', transportTo: ({ address }) => grpcTransport({ address, apiKey: null, tls: null }) },
  http: { name: 'HTTP', transportTo: ({ httpUrl }) => httpApiTransport({ url: httpUrl ?? '', apiKey: null }) },
} as const satisfies Record<string, Over>
