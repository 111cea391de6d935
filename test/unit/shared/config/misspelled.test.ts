import { expect, test } from 'vitest'
import { parseWorkerConfig } from '../../../../src/shared/config/worker.ts'
import { parseConfig } from '../../../../src/shared/config.ts'
import { textOf } from '../../../support/repository.ts'

const minimal = { SERVICE_CATALOG_ID: 'orders' }
const warningsFor = (...names: string[]) =>
  parseConfig({ ...minimal, ...Object.fromEntries(names.map((name) => [name, 's3cret'])) }, { binds: true }).warnings

test.each([
  ['SERVICE_CATALOG_TLL', 'SERVICE_CATALOG_TTL'],
  ['SERVICE_CATALOGTTL', 'SERVICE_CATALOG_TTL'],
  ['SERVICE_PROT', 'SERVICE_PORT'],
  ['SERVICE_CORS_ORIGIN', 'SERVICE_CORS_ORIGINS'],
  ['SERVICE_MESAGE_TIMEOUT', 'SERVICE_MESSAGE_TIMEOUT'],
  ['SERVICE_AUTH_TOKEN', 'SERVICE_API_AUTH_TOKEN'],
  ['SERVICE_MAX_BYTES', 'SERVICE_MAX_BODY_BYTES'],
  ['ENGINE_ADRESS', 'ENGINE_ADDRESS'],
  ['ENGINE_NAMESPCAE', 'ENGINE_NAMESPACE'],
  ['ENGINE_APIKEY', 'ENGINE_API_KEY'],
  ['ENGINE_TLS_SERVERNAME', 'ENGINE_TLS_SERVER_NAME'],
])('misspelled: %s has no effect, %s is named, and the value is not shown (threat 95)', (name, meant) => {
  expect(warningsFor(name)).toEqual([`${name} is not a Portico variable and has no effect; did you mean ${meant}?`])
})

test('misspelled: variables of other programs with the same prefix get no warning', () => {
  const kubernetes = [
    'ENGINE_SERVICE_HOST',
    'ENGINE_SERVICE_PORT',
    'ENGINE_PORT_7233_TCP_ADDR',
    'SERVICE_SERVICE_HOST',
    'SERVICE_PORT_80_TCP',
  ]
  const platforms = [
    'SERVICE_NAME',
    'SERVICE_URL',
    'SERVICE_ID',
    'SERVICE_VERSION',
    'SERVICE_REGION',
    'ENGINE_URL',
    'ENGINE_VERSION',
  ]

  expect(warningsFor(...kubernetes, ...platforms, 'CATALOG_ID', 'PORT')).toEqual([])
})

test('misspelled: variables of the API get no warning on a worker, and vice versa', () => {
  const documented = textOf('docs/configuration.md')
  const names = [...documented.matchAll(/^\| `((?:ENGINE|SERVICE)_\w+)`/gm)].map(([, name = '']) => name)
  const env = { ...Object.fromEntries(names.map((name) => [name, ''])), ...minimal }

  expect(names.length).toBeGreaterThan(40)
  expect(parseConfig(env, { binds: true }).warnings).toEqual([])
  expect(parseWorkerConfig(env, { catalogRequired: true }).warnings).toEqual([])
})

test('misspelled: warnings are listed with the errors, because they may be the cause', () => {
  expect(() => parseConfig({ SERVICE_CATALOGID: 'orders' }, { binds: true })).toThrow(
    /2 errors:\n {2}SERVICE_CATALOG_ID is required.*\n {2}SERVICE_CATALOGID is not a Portico variable .* did you mean SERVICE_CATALOG_ID\?/,
  )
})
