import { expect, test } from 'vitest'
import { leaksIn, withUnusedSecrets } from '../../support/variables.ts'

const ENV = {
  ENGINE_ADDRESS: 'engine.internal:45123',
  SERVICE_API_AUTH_TOKEN: 'first-token, second-token',
  SERVICE_KVSTORE_URL: 'redis://someone:pass-word@127.0.0.1:45124',
  SERVICE_CATALOG_ID: 'orders-catalog',
  SERVICE_PORT: '45125',
}

test('leaksIn: finds a value by each of its parts, and where it may not show alone', () => {
  const line = (text: string) => leaksIn(text, ENV, 'log')

  expect(line('dns:Engine.Internal is unknown')).toEqual(['ENGINE_ADDRESS'])
  expect(line('at port 45123, as someone')).toEqual(['ENGINE_ADDRESS', 'SERVICE_KVSTORE_URL'])
  expect(line('"Basic second-token"')).toEqual(['SERVICE_API_AUTH_TOKEN'])
  expect(line('1.first-token')).toEqual(['SERVICE_API_AUTH_TOKEN'])
  expect(line('listening at http://127.0.0.1:45125, catalog orders-catalog')).toEqual([])
  expect(line('redis, 451234, first-tokens')).toEqual([])
  expect(leaksIn('http://127.0.0.1:45125 of orders-catalog', ENV, 'answers')).toEqual(['SERVICE_PORT'])
  expect(leaksIn('engine.internal, pass-word', ENV, 'printed', { secretsOnly: true })).toEqual(['SERVICE_KVSTORE_URL'])
})

test('withUnusedSecrets: variables of the test win, and TLS is off only if the test does not set it', () => {
  expect(withUnusedSecrets({ ENGINE_API_KEY: 'own' })).toMatchObject({ ENGINE_API_KEY: 'own', ENGINE_TLS: 'false' })
  expect(withUnusedSecrets({ ENGINE_TLS_CA: '/ca.pem' })).not.toHaveProperty('ENGINE_TLS')
})
