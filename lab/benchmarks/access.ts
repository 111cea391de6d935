/**
 * What does a policy cost for each request? Measures the CPU time of `GET status` without sockets, and with a response
 * that stands in for the engine.
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { Transport } from '../../src/service/engine/transport/transport.ts'
import { createPortico } from '../../src/service/portico.ts'
import { parseConfig } from '../../src/shared/config.ts'
import { compareCpuTime } from './measure.ts'

const [rounds = '100', requests = '1500'] = process.argv.slice(2)
const WARM_UP_REQUESTS = 30_000
const ISSUER = 'https://login.example.com/'
const OPERATOR = 'operator-token'
const TOKEN = 'ptc_of-a-rule'
const RUN = { workflowId: 'u:ada:order-17', runId: '01a1fc00-969a-7396-9f99-7c3e726b2428' }

const { publicKey, privateKey } = await generateKeyPair('ES256')
const keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'first', alg: 'ES256' }] })
const provider = createServer((_, response) => response.end(keys)).listen(0, '127.0.0.1')
await once(provider, 'listening')
const jwt = await new SignJWT({ sub: 'ada' })
  .setProtectedHeader({ alg: 'ES256', kid: 'first' })
  .setIssuer(ISSUER)
  .setAudience('portico')
  .setExpirationTime('1h')
  .sign(privateKey)

const policy = JSON.stringify({
  version: 1,
  issuers: {
    main: {
      issuer: ISSUER,
      audience: 'portico',
      jwksUrl: `http://127.0.0.1:${(provider.address() as AddressInfo).port}/`,
    },
  },
  rules: [
    { name: 'ci', who: { token: `sha256:${createHash('sha256').update(TOKEN).digest('hex')}` }, can: ['read'] },
    { name: 'users', who: { jwt: 'main' }, can: ['read'], ids: ['u:{sub}:*'] },
  ],
})
const withPolicy = { SERVICE_API_AUTH_TOKEN: OPERATOR, SERVICE_POLICY: policy }

interface Variant {
  name: string
  env: Record<string, string>
  token: string
}

const VARIANTS: Variant[] = [
  { name: 'shared token, no policy', env: { SERVICE_API_AUTH_TOKEN: OPERATOR }, token: OPERATOR },
  // Shows how much of a difference is chance.
  { name: 'the same again', env: { SERVICE_API_AUTH_TOKEN: OPERATOR }, token: OPERATOR },
  { name: 'shared token beside a policy', env: withPolicy, token: OPERATOR },
  { name: 'token of a rule', env: withPolicy, token: TOKEN },
  { name: 'JWT that is remembered, rule with ids', env: withPolicy, token: jwt },
]

const services = VARIANTS.map(({ name, env, token }) => {
  const config = parseConfig({ SERVICE_CATALOG_ID: 'examples', ...env }, { binds: false })
  const portico = createPortico({ config, transport: createTransport(), log: () => {}, runtime: 'node' })
  const headers = { Authorization: `Bearer ${token}` }
  const send = () => portico.fetch(new Request(`http://127.0.0.1/workflow/${RUN.workflowId}/status`, { headers }))
  return { name, send, portico }
})
await compareCpuTime('Credential', services, {
  rounds: Number(rounds),
  requests: Number(requests),
  warmUpRequests: WARM_UP_REQUESTS,
})
await Promise.all(services.map(({ portico }) => portico.close()))
provider.closeAllConnections()
provider.close()

function createTransport(): Transport {
  const described = {
    executionConfig: { taskQueue: { name: 'examples' } },
    workflowExecutionInfo: {
      execution: RUN,
      type: { name: 'order' },
      taskQueue: 'examples',
      status: 1,
      startTime: { seconds: 1_795_000_000, nanos: 0 },
      historyLength: 8,
    },
  }
  const replayed = {
    name: 'grpc',
    features: { slashInIds: true, updateWithStart: true, asyncUpdates: true },
    call: async () => described,
    close: async () => {},
  }
  return replayed as unknown as Transport
}
