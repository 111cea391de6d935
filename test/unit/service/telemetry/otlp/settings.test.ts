import { expect, test } from 'vitest'
import { otlpSettings } from '../../../../../src/service/telemetry/otlp/settings.ts'

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }

test('otlpSettings: spans are not exported unless a variable asks for it', () => {
  expect([otlpSettings({}), otlpSettings({ OTEL_SERVICE_NAME: 'portico', OTEL_TRACES_EXPORTER: '' })]).toEqual([
    null,
    null,
  ])
})

test('otlpSettings: an endpoint, or the exporter, enables the export', () => {
  const settings = [
    ENDPOINT,
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' },
    { OTEL_TRACES_EXPORTER: 'otlp' },
    { OTEL_TRACES_EXPORTER: 'console, otlp' },
  ].map((env) => otlpSettings(env))

  expect(settings).toEqual(Array(4).fill({ protocol: 'http/protobuf' }))
})

test('otlpSettings: OTEL_SDK_DISABLED and the exporter none disable it', () => {
  expect([
    otlpSettings({ ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' }),
    otlpSettings({ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }),
  ]).toEqual([null, null])
})

test('otlpSettings: the protocol of spans wins over the one of all signals', () => {
  const protocols = { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' }

  expect(otlpSettings({ ...ENDPOINT, ...protocols })).toEqual({ protocol: 'http/json' })
})

test('otlpSettings: another exporter or protocol is an issue, without its value', () => {
  expect([
    otlpSettings({ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }),
    otlpSettings({ OTEL_TRACES_EXPORTER: 'zipkin' }),
  ]).toEqual([
    { issue: 'OTEL_EXPORTER_OTLP_PROTOCOL must be one of http/protobuf, http/json' },
    { issue: 'OTEL_TRACES_EXPORTER must be otlp or none' },
  ])
})
