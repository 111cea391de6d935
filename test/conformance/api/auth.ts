import { expect, test } from 'vitest'
import { makeApi } from '../../support/api.ts'
import { readiness } from '../../support/readiness.ts'
import { rule } from '../../support/rules.ts'
import { type ApiFixture, anId, OTHER_TOKEN, TOKEN } from './api-fixture.ts'

/** Tokens, and what needs none. */
export function auth(api: () => ApiFixture): void {
  /** The status of a request for a missing workflow with a valid token (404) and without one (401). */
  async function knock(authorization: string): Promise<number> {
    const { status } = await makeApi({ url: api().restrictedService.url }).get(`${anId()}/status`, {
      Authorization: authorization,
    })
    return status
  }

  rule('auth.basic-with-the-shared-token', async () => {
    expect(await knock(`Basic ${TOKEN}`)).toBe(404)
  })

  rule('auth.open-locally-without-a-token', async () => {
    const { anonymousService } = api()

    const run = await anonymousService.run('echo', 1)
    const start = await anonymousService.start('echo', 1)

    expect([run.status, start.status]).toEqual([200, 200])
  })

  test('auth: tokens in each form, and values that are not one', async () => {
    const curl = [`anybody:${TOKEN}`, `:${OTHER_TOKEN}`].map((user) => `BASIC ${btoa(user)}`)
    const valid = [`Basic ${OTHER_TOKEN}`, `Bearer ${TOKEN}`, `bearer ${OTHER_TOKEN}`, ...curl]
    const wrong = ['', 'wrong', TOKEN.slice(0, -1), `${TOKEN}x`, `${TOKEN}, ,${OTHER_TOKEN}`]
    const wrongUsers = [`${TOKEN}:anybody`, ':'].map((user) => btoa(user))
    const invalid = [
      '',
      'Basic',
      TOKEN,
      `Digest ${TOKEN}`,
      ...[...wrong, ...wrongUsers].map((token) => `Basic ${token}`),
    ]

    expect(await Promise.all(valid.map(knock))).toEqual(valid.map(() => 404))
    expect(await Promise.all(invalid.map(knock))).toEqual(invalid.map(() => 401))
  })

  test('auth: every other route requires a token, even one that does not exist (threat 1)', async () => {
    const { call } = makeApi({ url: api().restrictedService.url })
    const run = `/workflow/${anId()}/runs/00000000-0000-4000-8000-000000000000`
    const routes: [string, string][] = [
      ['POST', '/workflow/run'],
      ['POST', '/workflow/start'],
      ['POST', '/workflow/update-with-start/any'],
      ['POST', '/workflow/validate'],
      ['GET', '/workflow/catalog'],
      ['GET', '/workflow/catalog/any'],
      ['GET', `${run}/status`],
      ['GET', `${run}/result`],
      ['HEAD', `${run}/result`],
      ['GET', `${run}/trace-log`],
      ['POST', `${run}/signal/any`],
      ['POST', `${run}/query/any`],
      ['POST', `${run}/update/any`],
      ['PATCH', `${run}/stop`],
      ['POST', `${run}/terminate`],
      ['GET', '/'],
      ['GET', '/health/'],
      ['GET', '//health'],
      ['GET', '/nope?/health'],
    ]

    const answers = await Promise.all(routes.map(([method, path]) => call(method, path)))

    expect(answers.map(({ status }) => status)).toEqual(routes.map(() => 401))
    expect(answers[0]?.body).toMatchObject({ error: 'UnauthorizedError', source: 'gateway' })
    expect(answers[0]?.headers.get('WWW-Authenticate')).toMatch(/^Basic realm="/)
  })

  test('auth: health, readiness and OPTIONS need no token', async () => {
    const { call } = makeApi({ url: api().restrictedService.url })

    const ready = await readiness({ call })
    const answers = [await call('GET', '/health'), ready, await call('OPTIONS', '/workflow/run')]

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 204])
  })
}
