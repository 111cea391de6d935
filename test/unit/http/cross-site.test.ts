import { describe, expect, test } from 'vitest'
import { makeApi, refusal } from './api.ts'

describe('pages of other sites', () => {
  const foreign = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' }
  const workflows = { terminate: async () => ({ workflowId: 'w', runId: 'r' }), ready: async () => true }

  test('cross-site: what changes something is refused, even without a body', async () => {
    const { call } = makeApi({ workflows })

    expect(await refusal(await call('POST', '/workflow/w/terminate', undefined, foreign))).toEqual([403, 'ForbiddenError'])
  })

  test('cross-site: an origin that CORS lets in may', async () => {
    const { call } = makeApi({ workflows, corsOrigins: ['https://evil.example'] })

    expect((await call('POST', '/workflow/w/terminate', undefined, foreign)).status).toBe(200)
  })

  test('cross-site: pages of our own, reading, and what is no browser go through', async () => {
    const { call } = makeApi({ workflows })

    expect((await call('POST', '/workflow/w/terminate', undefined, { 'Sec-Fetch-Site': 'same-origin' })).status).toBe(200)
    expect((await call('POST', '/workflow/w/terminate')).status).toBe(200)
    expect((await call('GET', '/ready', undefined, foreign)).status).toBe(200)
  })
})
