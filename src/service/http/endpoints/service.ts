/** The state of the service: liveness, readiness, metrics, and what this deployment supports. */
import type { Context } from 'hono'
import { ServiceError } from '../../model/errors.ts'
import { type Env, jsonResponse, respond } from '../context.ts'
import { endpoint, endpointOf } from '../endpoint.ts'
import { ref as schemaOf } from '../openapi/schema.ts'

const capabilities = endpointOf('capabilities', {
  method: 'get',
  path: '/capabilities',
  id: 'getCapabilities',
  tag: 'Service',
  summary: 'Get version, runtime and features of this deployment',
  docs: 'api/service.md#capabilities',
  responses: { 200: { description: 'The deployment', schema: schemaOf('Capabilities') } },
  errors: ['OverloadedError'],
  takes: 'work',
  key: 'ignored',
  input: () => ({}),
})

const health = endpoint({
  method: 'get',
  path: '/health',
  id: 'getHealth',
  tag: 'Service',
  summary: 'Check whether the process runs',
  docs: 'api/service.md#health',
  responses: { 200: { description: 'The process runs', schema: schemaOf('Health') } },
  errors: [],
  takes: 'nothing',
  key: 'ignored',
  access: null,
  isPeriodic: true,
  isOfService: true,
  handle: (c) => jsonResponse(c, { status: 'ok' }),
})

const ready = endpoint({
  method: 'get',
  path: '/ready',
  id: 'getReadiness',
  tag: 'Service',
  summary: 'Check whether the engine can serve requests',
  docs: 'api/service.md#health',
  responses: {
    200: { description: 'It can', schema: schemaOf('Readiness') },
    503: { description: 'It cannot', schema: schemaOf('Readiness') },
  },
  errors: [],
  takes: 'nothing',
  key: 'ignored',
  access: null,
  isPeriodic: true,
  async handle(c, { workflows }) {
    const engine = await workflows.ready()
    return engine === 'reachable'
      ? jsonResponse(c, { status: 'ok', engine })
      : jsonResponse(c, { status: 'unavailable', engine }, 503)
  },
})

// https://prometheus.io/docs/instrumenting/content_negotiation/
const PROMETHEUS_TEXT = 'text/plain; version=0.0.4; charset=utf-8'

export const metrics = endpoint({
  method: 'get',
  path: '/metrics',
  id: 'getMetrics',
  tag: 'Service',
  summary: 'Get metrics for Prometheus',
  docs: 'limits-and-logs.md#metrics',
  responses: { 200: { description: 'The metrics', text: ['text/plain'] } },
  errors: ['NotSupportedError'],
  takes: 'nothing',
  key: 'ignored',
  access: 'metrics',
  isPeriodic: true,
  feature: 'metrics',
  isOfService: true,
  handle: (c, { readMetrics }) => metricsResponse(c, readMetrics),
})

/** `read` is null where metrics are not supported. */
export function metricsResponse(c: Context<Env>, read: (() => string) | null): Response {
  if (read === null)
    throw new ServiceError(
      'NotSupportedError',
      'Metrics are not supported on this runtime: each isolate would count only its own requests',
    )
  return respond(c, read(), 200, { 'Content-Type': PROMETHEUS_TEXT })
}

export const serviceEndpoints = [capabilities, health, ready, metrics]
