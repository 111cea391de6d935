/** Tenants with random rules: one half has static tokens, the other has JWTs. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AUDIENCE, createSigner, ISSUER } from '../../test/support/jwt-signer.ts'
import type { OracleRule, OracleScope } from '../../test/unit/service/access/oracle.ts'
import type { Random } from '../soak/random.ts'
import { someRules } from './access-requests.ts'

export interface Caller {
  credential: string
  rules: OracleRule[]
  /** Of its access token. */
  scope: OracleScope | null
}

const TENANTS = 24
const JWT_ISSUER = 'main'

/** Returns the tenants, and their policy. The keys of the JWTs are served until `servers` are disposed. */
export async function createCallers(
  servers: AsyncDisposableStack,
  random: Random,
): Promise<{ tenants: [Caller, ...Caller[]]; policy: object }> {
  const signer = await createSigner()
  const keys = createServer((_, response) => void response.end(JSON.stringify({ keys: [signer.jwk] })))
  await once(keys.listen(0, '127.0.0.1'), 'listening')
  servers.defer(() => void keys.close())
  const create = async (n: number) => {
    const [tenant, rules] = [`t${n}`, someRules(random)]
    const isStatic = n % 2 === 0
    // The subject is `ada`.
    const credential = isStatic ? `ptc_${n}` : await signer.sign({ tenant })
    const who = isStatic ? { token: hashOf(credential) } : { jwt: JWT_ISSUER, claims: { tenant } }
    const ofPolicy = rules.map(({ ids, ...rule }, at) => ({
      ...{ name: `${tenant}-${at}`, who, ...rule },
      ...(ids && { ids: isStatic ? ids : ids.map((id) => id.replace(/^u:ada:/, 'u:{sub}:')) }),
    }))
    return { caller: { credential, rules, scope: null }, ofPolicy }
  }
  const first = await create(0)
  const others = []
  for (let n = 1; n < TENANTS; n++) others.push(await create(n))
  const jwksUrl = `http://127.0.0.1:${(keys.address() as AddressInfo).port}`
  return {
    tenants: [first.caller, ...others.map(({ caller }) => caller)],
    policy: {
      version: 1,
      issuers: { [JWT_ISSUER]: { issuer: ISSUER, audience: AUDIENCE, jwksUrl } },
      rules: [first, ...others].flatMap(({ ofPolicy }) => ofPolicy),
    },
  }
}

function hashOf(token: string): string {
  return `sha256:${createHash('sha256').update(token).digest('hex')}`
}
