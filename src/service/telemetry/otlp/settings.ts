/** The variables of OpenTelemetry that decide whether spans are exported. Its SDK reads the others itself. */

export type OtlpProtocol = (typeof PROTOCOLS)[number]

/** `issue`: why spans are not exported although a variable enables the export. */
export type OtlpSettings = { protocol: OtlpProtocol } | { issue: string }

const PROTOCOLS = ['http/protobuf', 'http/json'] as const

/**
 * Null when spans are not exported: without `OTEL_TRACES_EXPORTER` and an endpoint, or when they are disabled.
 *
 * https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export function otlpSettings(env: Readonly<Record<string, string | undefined>>): OtlpSettings | null {
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT
  const exporters = (env.OTEL_TRACES_EXPORTER || (endpoint ? 'otlp' : 'none')).split(',').map((name) => name.trim())
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || exporters.includes('none')) return null
  if (!exporters.includes('otlp')) return { issue: 'OTEL_TRACES_EXPORTER must be otlp or none' }
  const wanted = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL || PROTOCOLS[0]
  const protocol = PROTOCOLS.find((known) => known === wanted)
  return protocol === undefined
    ? { issue: `OTEL_EXPORTER_OTLP_PROTOCOL must be one of ${PROTOCOLS.join(', ')}` }
    : { protocol }
}
