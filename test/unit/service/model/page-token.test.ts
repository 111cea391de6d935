import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hasErrorName } from '../../../../src/service/model/errors.ts'
import { isEngineToken, openPageToken, sealPageToken } from '../../../../src/service/model/page-token.ts'

const isAnything = (value: unknown): value is unknown => value !== undefined
const REQUEST = { namespace: 'default', runs: { status: 'running' } }

test('page token: is opened with the same request, by anybody', async () => {
  const token = await sealPageToken(REQUEST, { after: 7, token: 'ünï' })

  expect(token).toMatch(/^[\w-]+$/)
  expect(await openPageToken({ runs: { status: 'running' }, namespace: 'default' }, token, isAnything)).toEqual({
    after: 7,
    token: 'ünï',
  })
})

test('page token: is not opened with another request, nor for a position of another kind (threat 42)', async () => {
  const token = await sealPageToken(REQUEST, 'x')
  const isNumber = (value: unknown): value is number => typeof value === 'number'

  await expect(openPageToken({ ...REQUEST, namespace: 'other' }, token, isAnything)).rejects.toThrow('pageToken')
  await expect(openPageToken(REQUEST, token, isNumber)).rejects.toThrow('pageToken')
})

test('page token: a damaged one is always rejected with the same error (threat 42)', async () => {
  const token = await sealPageToken(REQUEST, 'position')
  const damaged = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.nat({ max: token.length - 1 }).map((at) => token.slice(0, at)),
    // The last character has bits that do not count.
    fc
      .tuple(fc.nat({ max: token.length - 2 }), fc.constantFrom(...'ABCxyz019_-'))
      .map(([at, character]) => token.slice(0, at) + character + token.slice(at + 1)),
  )

  await fc.assert(
    fc.asyncProperty(damaged, async (text) => {
      fc.pre(text !== token)
      const error = await openPageToken(REQUEST, text, isAnything).catch((reason: unknown) => reason)
      expect(hasErrorName(error, 'InvalidPageTokenError')).toBe(true)
    }),
  )
})

test('page token: a position that is not base64 is not a token of the engine', () => {
  expect(['', 'YWI=', 'YWJj', 'a+/_-w=='].map(isEngineToken)).toEqual([true, true, true, false])
  expect(['YWI', 'Y=I=', 'ünï!', null, 7].map(isEngineToken)).toEqual([false, false, false, false, false])
})
