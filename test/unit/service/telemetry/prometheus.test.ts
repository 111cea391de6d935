import { expect, test } from 'vitest'
import { createRegistry } from '../../../../src/service/telemetry/prometheus.ts'
import { parseMetrics } from '../../../support/prometheus.ts'

test('text: a counter and a gauge, each with its help and its type', () => {
  const registry = createRegistry()
  const reads = registry.counter({ name: 'reads_total', help: 'Reads.', labels: ['cache', 'result'] })
  registry.gauge({ name: 'open', help: 'Open.' })

  reads.add(1, 'run', 'hit')
  reads.add(2, 'run', 'hit')
  reads.add(1, 'run', 'miss')

  expect(registry.text()).toBe(`# HELP reads_total Reads.
# TYPE reads_total counter
reads_total{cache="run",result="hit"} 3
reads_total{cache="run",result="miss"} 1
# HELP open Open.
# TYPE open gauge
open 0
`)
})

test('text: the buckets of a histogram are cumulative, and a bound belongs to its own bucket', () => {
  const registry = createRegistry()
  const seconds = registry.histogram({ name: 'seconds', help: 'Seconds.', labels: ['route'], buckets: [0.5, 1] })

  for (const value of [0.25, 0.5, 0.75, 8]) seconds.observe(value, '/a')

  expect(registry.text()).toBe(`# HELP seconds Seconds.
# TYPE seconds histogram
seconds_bucket{route="/a",le="0.5"} 2
seconds_bucket{route="/a",le="1"} 3
seconds_bucket{route="/a",le="+Inf"} 4
seconds_sum{route="/a"} 9.5
seconds_count{route="/a"} 4
`)
})

test('text: label values and help are escaped', () => {
  const registry = createRegistry()
  registry.gauge({ name: 'odd', help: 'A \\ and\na line.', labels: ['value'] }).add(1, 'say "\\"\n')

  const text = registry.text()

  expect(text).toContain('# HELP odd A \\\\ and\\na line.\n')
  expect(parseMetrics(text)).toEqual([{ name: 'odd', labels: { value: 'say "\\"\n' }, value: 1 }])
})

test('text: a computed metric is read for each scrape, and left out while it has no value', () => {
  const registry = createRegistry()
  let value: number | null = null
  registry.computed({ name: 'bytes', help: 'Bytes.', type: 'gauge', read: () => value })

  const without = registry.text()
  value = 12

  expect([without, parseMetrics(registry.text())]).toEqual(['\n', [{ name: 'bytes', labels: {}, value: 12 }]])
})
