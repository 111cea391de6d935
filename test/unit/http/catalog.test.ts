import { describe, expect, test } from 'vitest'
import { refusal } from './api.ts'
import { makeRunApi } from './run-api.ts'

describe('catalog', () => {
  test('catalog: is the default one unless the path names another', async () => {
    const { call } = makeRunApi()

    expect(await (await call('GET', '/workflow/catalog')).json()).toEqual({ catalog: 'orders', workflows: [] })
    expect(await (await call('GET', '/workflow/catalog/a%2Fb')).json()).toEqual({ catalog: 'a/b', workflows: [] })
  })

  test('catalog: its route wins over an execution of that name', async () => {
    const { call } = makeRunApi()

    expect(await (await call('GET', '/workflow/catalog/status')).json()).toMatchObject({ catalog: 'status' })
  })

  test('catalog: rejects invalid names of task queues', async () => {
    const { call } = makeRunApi()

    expect(await refusal(await call('GET', '/workflow/catalog/%2F_sys%2Fx'))).toEqual([400, 'ValidationError'])
  })

  test('catalog: responds with 304 when the ETag matches', async () => {
    const { call } = makeRunApi()

    const first = await call('GET', '/workflow/catalog')
    const etag = first.headers.get('ETag') ?? ''
    const again = await call('GET', '/workflow/catalog', undefined, { 'If-None-Match': `"other", W/${etag}` })
    const other = await call('GET', '/workflow/catalog', undefined, { 'If-None-Match': '"other"' })

    expect([first.status, again.status, await again.text(), again.headers.get('ETag'), other.status]).toEqual([
      200,
      304,
      '',
      etag,
      200,
    ])
  })
})
