import { flag, integer, type Variables } from './variables.ts'

/** How `GET /metrics` is served. */
export interface MetricsConfig {
  /** A port that serves nothing else; null: the port of the service. */
  port: number | null
  /** False where each isolate would count only its own requests (workerd). */
  supported: boolean
}

/** Null when metrics are off. */
export function metricsConfig(
  { read, report }: Variables,
  { isolated, servicePort }: { isolated: boolean; servicePort: number },
): MetricsConfig | null {
  const port = read('SERVICE_METRICS_PORT', integer(0, 65_535))
  if (port !== null && port !== 0 && port === servicePort)
    report('SERVICE_METRICS_PORT must differ from SERVICE_PORT; without it, /metrics is on SERVICE_PORT')
  return read('SERVICE_METRICS_ON', flag) === true ? { port: isolated ? null : port, supported: !isolated } : null
}
