/** A real identity provider on a loopback port: an OpenID provider that issues JWTs to its users. */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type Adapter, type AsymmetricSigningAlgorithm, Provider } from 'oidc-provider'
import { freePort } from '../../src/cli/dev/servers/ports.ts'
import { AUDIENCE, type Signer } from './jwt-signer.ts'

/** All that a policy accepts. */
export const ALGORITHMS = ['ES256', 'RS256', 'PS256', 'ES384', 'EdDSA'] as const satisfies AsymmetricSigningAlgorithm[]

export interface IdentityProvider {
  /** The exact `iss` of its JWTs. */
  issuer: string
  jwksUrl: string
  /** An access token of a user, signed with the first key of its algorithm. */
  issue(user: User, token?: TokenRequest): Promise<string>
  /** Replaces its keys, as after a restart with another configuration. */
  setKeys(signers: readonly Signer[]): void
  /** Answers the requests for keys, instead of the provider. */
  interceptKeys: ((response: ServerResponse) => void) | null
  /** The paths of the requests so far, without those for tokens. */
  requests: string[]
  /** Closes its port. */
  stop(): Promise<void>
  /** Listens on its port again. */
  start(): Promise<void>
}

export type User = keyof typeof USERS

export interface TokenRequest {
  /** Default: ours. */
  audience?: string
  /** Default: ES256. */
  algorithm?: AsymmetricSigningAlgorithm
  /** For how many seconds the JWT has been over: providers issue only valid ones, but a JWT can be used late. */
  expiredSeconds?: number
}

/** The claims of each user; `sub` is the key. */
const USERS = {
  ada: { org: 'acme', realm_access: { roles: ['user', 'support'] } },
  ben: { org: 'globex', realm_access: { roles: ['user'] } },
  eve: { org: 'acme', realm_access: { roles: [] } },
  sam: { org: 'acme', plan: 'slow' },
  tom: { org: 'acme', plan: 'slow' },
}

const CLAIMS = new Map<string | undefined, object>(Object.entries(USERS))

const SECRET = 'secret-of-a-user'

// JWTs are not stored. Without this the provider warns of its store in memory.
const NO_STORE: Adapter = {
  upsert: doNothing,
  find: doNothing,
  findByUserCode: doNothing,
  findByUid: doNothing,
  consume: doNothing,
  destroy: doNothing,
  revokeByGrantId: doNothing,
}

async function doNothing(): Promise<undefined> {}

// Where the provider has them by default.
const JWKS_PATH = '/jwks'
const TOKEN_PATH = '/token'

export async function startIdentityProvider(signers: readonly Signer[]): Promise<IdentityProvider> {
  const port = await freePort()
  const issuer = `http://127.0.0.1:${port}`
  let handle = createHandler(issuer, signers)
  const server = createServer((request, response) => {
    const { url = '' } = request
    if (url !== TOKEN_PATH) identityProvider.requests.push(url)
    if (url === JWKS_PATH && identityProvider.interceptKeys !== null) identityProvider.interceptKeys(response)
    else void handle(request, response)
  })
  // A client that reused a connection could find it closed after a stop.
  server.maxRequestsPerSocket = 1
  const identityProvider: IdentityProvider = {
    issuer,
    jwksUrl: `${issuer}${JWKS_PATH}`,
    issue: (user, token) => requestToken(issuer, user, token),
    setKeys(signers) {
      handle = createHandler(issuer, signers)
    },
    interceptKeys: null,
    requests: [],
    async stop() {
      if (!server.listening) return
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
    async start() {
      await once(server.listen(port, '127.0.0.1'), 'listening')
    },
  }
  await identityProvider.start()
  return identityProvider
}

function createHandler(issuer: string, signers: readonly Signer[]) {
  const provider = new Provider(issuer, {
    adapter: () => NO_STORE,
    jwks: { keys: signers.map(({ privateJwk }) => privateJwk) },
    // Each user is a client that authenticates itself, because a login needs a browser.
    clients: Object.keys(USERS).map((user) => ({
      client_id: user,
      client_secret: SECRET,
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    })),
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      // Access tokens are opaque, unless they are requested for a resource.
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo(_context, resource) {
          const [, audience = '', algorithm] = resource.split(':')
          const alg = ALGORITHMS.find((known) => known === algorithm)
          return { audience, scope: '', accessTokenFormat: 'jwt', jwt: { sign: { alg } } }
        },
      },
    },
    ttl: { ClientCredentials: 600 },
    extraTokenClaims: (_context, { clientId }) => ({ ...CLAIMS.get(clientId) }),
    formats: {
      customizers: {
        jwt({ oidc }, _token, { payload }) {
          const seconds = Number(oidc.body?.expired_seconds)
          if (seconds > 0) Object.assign(payload, { exp: Math.floor(Date.now() / 1000) - seconds })
        },
      },
    },
  })
  return provider.callback()
}

async function requestToken(
  issuer: string,
  user: User,
  { audience = AUDIENCE, algorithm = 'ES256', expiredSeconds = 0 }: TokenRequest = {},
): Promise<string> {
  const response = await fetch(`${issuer}${TOKEN_PATH}`, {
    method: 'POST',
    headers: { Authorization: `Basic ${btoa(`${user}:${SECRET}`)}` },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      resource: `urn:${audience}:${algorithm}`,
      expired_seconds: String(expiredSeconds),
    }),
  })
  const body = await response.text()
  if (!response.ok) throw new Error(`The identity provider answered ${response.status}: ${body}`)
  return JSON.parse(body).access_token
}
