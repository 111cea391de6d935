import { expect, test } from 'vitest'
import { issuesOf, parse, required } from './parsed.ts'

const metricsOf = (env: Record<string, string>, options?: Parameters<typeof parse>[1]) => parse(env, options).metrics

test('metrics: off unless SERVICE_METRICS_ON (threat 96)', () => {
  expect([metricsOf({}), metricsOf({ SERVICE_METRICS_PORT: '9464' })]).toEqual([null, null])
})

test('metrics: on the port of the service, or on SERVICE_METRICS_PORT', () => {
  const on = { SERVICE_METRICS_ON: 'true' }

  expect([metricsOf(on), metricsOf({ ...on, SERVICE_METRICS_PORT: '9464' })]).toEqual([
    { port: null, supported: true },
    { port: 9464, supported: true },
  ])
})

test('metrics: on workerd they are not supported, and there is no other port', () => {
  const env = {
    SERVICE_METRICS_ON: 'true',
    SERVICE_METRICS_PORT: '9464',
    SERVICE_API_AUTH_TOKEN: 's3cret',
    ENGINE_HTTP_URL: 'https://engine.test',
  }

  expect(metricsOf(env, { binds: false, isolated: true })).toEqual({ port: null, supported: false })
})

test('metrics: their port must differ from that of the service, unless the system chooses both', () => {
  const port = (metrics: string, service: string) =>
    issuesOf({ ...required, SERVICE_METRICS_ON: 'true', SERVICE_METRICS_PORT: metrics, SERVICE_PORT: service })

  expect(port('0', '0')).toEqual([])
  expect(port('3001', '')).toEqual([
    'SERVICE_METRICS_PORT must differ from SERVICE_PORT; without it, /metrics is on SERVICE_PORT',
  ])
})
