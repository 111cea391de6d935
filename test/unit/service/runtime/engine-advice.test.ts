import { expect, test } from 'vitest'
import { ServiceError } from '../../../../src/service/model/errors.ts'
import { engineAdvice } from '../../../../src/service/runtime/engine-advice.ts'

const HANDSHAKE = "No connection established. Last error: Error: Hostname/IP does not match certificate's altnames"
const silent = new ServiceError('EngineUnavailableError', 'The engine did not respond')
const untrusted = new ServiceError('EngineUnavailableError', 'The engine did not respond', {
  cause: new Error(HANDSHAKE),
})
const missing = new ServiceError('EngineError', 'Unexpected response', { cause: new Error('Namespace x is not found') })

test.each([
  ['no response over gRPC', silent, 'grpc', 'it does not respond; check ENGINE_ADDRESS and ENGINE_TLS'],
  ['no response over HTTP', silent, 'http', 'it does not respond; check ENGINE_HTTP_URL'],
  ["any other error is the engine's own message", missing, 'grpc', 'Namespace x is not found'],
  ['what is not an error is printed', 'odd', 'grpc', 'odd'],
] as const)('engineAdvice: %s', (_name, error, transport, expected) => {
  expect(engineAdvice(error, transport, {})).toBe(expected)
})

test('engineAdvice: a failed TLS handshake names its reason and the variables of the transport', () => {
  expect(engineAdvice(untrusted, 'grpc', {})).toMatch(/^the TLS handshake failed \(.+\); check ENGINE_TLS_CA, /)
  expect(engineAdvice(untrusted, 'http', {})).toMatch(/^the TLS handshake failed \(.+\); check ENGINE_HTTP_URL and /)
})

test.each(['grpc_proxy', 'https_proxy', 'http_proxy'])('engineAdvice: no response with %s names no_proxy', (name) => {
  const env = { [name]: 'http://127.0.0.1:3128' }

  expect(engineAdvice(silent, 'grpc', env)).toBe(
    'it does not respond; check ENGINE_ADDRESS and ENGINE_TLS, or `no_proxy`',
  )
  expect(engineAdvice(silent, 'http', env)).toBe('it does not respond; check ENGINE_HTTP_URL')
})

test('engineAdvice: an empty proxy variable names nothing', () => {
  expect(engineAdvice(silent, 'grpc', { https_proxy: '' })).not.toContain('no_proxy')
})
