import { expect, test } from 'vitest'
import { createAccessTokens } from '../../../../src/service/http/credentials/access-tokens.ts'
import { createLinks, type LinksOptions } from '../../../../src/service/links/links.ts'
import type { Link } from '../../../../src/service/model/link.ts'
import { createSealer } from '../../../../src/shared/lib/seal.ts'
import { makeApi, onlyVerbs } from '../http/api.ts'

const KEY = new Uint8Array(32).fill(7)
const OPTIONS: LinksOptions = {
  keys: [KEY],
  publicUrl: 'https://portico.example',
  namespaces: ['default'],
  defaults: { catalog: 'orders', namespace: 'default' },
  findRule: () => undefined,
  now: () => 1000,
}

const DELEGATION = { scope: { can: [] }, namespace: 'default', by: null, rules: null, id: 'x' }

const link: Link = {
  linkId: 'l',
  namespace: 'default',
  workflowId: 'w',
  runId: 'r',
  workflowName: 'refund',
  kind: 'signal',
  handler: 'decide',
  title: 'Refund?',
  choices: [{ label: 'Yes', payload: { amount: 1 }, comment: 'none' }],
  expiresAt: 2000,
  afterEventId: 0,
  creator: null,
  rule: null,
}

async function tokenOf(content: Partial<Link>, options: Partial<LinksOptions> = {}): Promise<string> {
  const url = await createLinks({ ...OPTIONS, ...options }).urlOf({ ...link, ...content })
  return url.slice('https://portico.example/links/'.length)
}

test('links: a URL has the sealed link, which opens until it expires (threat 65)', async () => {
  const token = await tokenOf({})

  expect(await createLinks(OPTIONS).open(token)).toEqual(link)
  expect(atob(token.replaceAll('-', '+').replaceAll('_', '/'))).not.toContain('Refund')
  await expect(createLinks({ ...OPTIONS, now: () => 2000 }).open(token)).rejects.toMatchObject({
    error: 'LinkExpiredError',
    reason: 'expired',
  })
  await expect(
    createLinks(OPTIONS).open(`${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`),
  ).rejects.toMatchObject({
    reason: 'signature',
  })
})

test('links: the log says why a link was rejected, as JSON and as a page, and not which link it was', async () => {
  const token = await tokenOf({})
  const requests = async (links: ReturnType<typeof createLinks>, path: string) => {
    const { call, events } = makeApi({
      openLink: async (token) => ({ link: await links.open(token), workflows: onlyVerbs({}) }),
    })
    for (const Accept of ['application/json', 'text/html']) await call('GET', path, undefined, { Accept })
    expect(JSON.stringify(events)).not.toContain(path.split('/')[2])
    return events.map(({ fields: { status, error, reason } }) => [status, error, reason])
  }

  const late = await requests(createLinks({ ...OPTIONS, now: () => 2000 }), `/links/${token}`)
  const forged = await requests(createLinks(OPTIONS), '/links/made-up')

  expect(late).toEqual(Array(2).fill([410, 'LinkExpiredError', 'expired']))
  expect(forged).toEqual(Array(2).fill([404, 'LinkNotFoundError', 'signature']))
})

test('links: a payload keeps its exact numbers', async () => {
  const payload = { orderId: JSON.rawJSON('9007199254740993'), amount: JSON.rawJSON('0.12345678901234567890') }
  const token = await tokenOf({ choices: [{ label: 'Yes', payload, comment: 'none' }] })

  const opened = await createLinks(OPTIONS).open(token)

  expect(JSON.stringify(opened.choices[0]?.payload)).toBe(
    '{"orderId":9007199254740993,"amount":0.12345678901234567890}',
  )
})

test('links: a link for a namespace that the service no longer has is not found (threat 66)', async () => {
  const token = await tokenOf({ namespace: 'acme' })

  await expect(createLinks(OPTIONS).open(token)).rejects.toMatchObject({ error: 'LinkNotFoundError' })
  expect(await createLinks({ ...OPTIONS, namespaces: ['acme'] }).open(token)).toMatchObject({ namespace: 'acme' })
})

test('links: what the same keys seal for another purpose is not found (threat 64)', async () => {
  const sealed = await createSealer([KEY], 'portico token 1').seal(JSON.stringify(link))

  await expect(createLinks(OPTIONS).open(sealed)).rejects.toMatchObject({ error: 'LinkNotFoundError' })
})

test('links: a rule must still allow the link and its message, but patterns with claims are not compared (threat 65)', async () => {
  const opens = async (rule: object | undefined) => {
    const who = { token: [] }
    const found = rule && { name: 'mail', who, can: ['link', 'signal:decide'], ...rule }
    const links = createLinks({ ...OPTIONS, findRule: (name) => (name === 'mail' ? found : undefined) })
    return links.open(await tokenOf({ rule: 'mail' })).then(
      () => true,
      (error) => error.error,
    )
  }

  expect(await opens({})).toBe(true)
  expect(await opens({ ids: ['u:{sub}:*'] })).toBe(true)
  for (const rule of [
    undefined,
    { can: ['link'] },
    { can: ['signal'] },
    { can: ['link', 'update'] },
    { ids: ['x:*'] },
    { workflows: ['other'] },
    { namespaces: ['acme'] },
  ])
    expect(await opens(rule), JSON.stringify(rule)).toBe('LinkNotFoundError')
})

test('links: a rule must still allow the type of the activity that the link completes (threat 66)', async () => {
  const token = await tokenOf({ kind: 'complete', handler: 'charge', activityId: '7', rule: 'mail' })
  const openWith = (can: string[]) =>
    createLinks({ ...OPTIONS, findRule: (name) => ({ name, who: { token: [] }, can }) }).open(token)

  expect(await openWith(['link', 'complete:charge'])).toMatchObject({ activityId: '7' })
  await expect(openWith(['link', 'complete:refund', 'signal'])).rejects.toMatchObject({ error: 'LinkNotFoundError' })
})

test('links: a service with the same key but another name or address rejects a link, and an access token (threat 64)', async () => {
  const tokens = (deployment?: string) => createAccessTokens([KEY], deployment)
  const link = await tokenOf({}, { deployment: 'https://a.test' })
  const token = await tokens('https://a.test').seal({ ...DELEGATION, expiresAt: 1 })

  for (const options of [{ ...OPTIONS, deployment: 'https://b.test' }, OPTIONS])
    await expect(createLinks(options).open(link)).rejects.toMatchObject({ error: 'LinkNotFoundError' })
  expect([await tokens('https://b.test').open(token), await tokens().open(token)]).toEqual([null, null])
  await expect(createLinks({ ...OPTIONS, deployment: 'https://a.test' }).open(link)).resolves.toMatchObject({
    linkId: 'l',
  })
  expect(await tokens('https://a.test').open(token)).not.toBeNull()
})
