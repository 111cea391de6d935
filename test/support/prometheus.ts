/** A strict parser of Prometheus' text format: https://prometheus.io/docs/instrumenting/exposition_formats/ */

export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

interface Family {
  name: string
  type: string
  samples: Sample[]
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"'
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(${LABEL}(?:,${LABEL})*)\\})? (\\S+)$`)
const NUMBER = /^(?:[+-]?Inf|NaN|[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: [''],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count'],
}

/** Throws for anything that Prometheus, or `promtool check metrics`, would object to. */
export function parseMetrics(text: string): Sample[] {
  if (!text.endsWith('\n')) throw new Error('The last line must end with a newline')
  const families: Family[] = []
  for (const line of text.slice(0, -1).split('\n')) addLine(families, line)
  for (const family of families) checkFamily(family)
  const samples = families.flatMap((family) => family.samples)
  const series = samples.map(({ name, labels }) => JSON.stringify([name, Object.entries(labels).toSorted()]))
  if (new Set(series).size < series.length) throw new Error('A series occurs twice')
  return samples
}

/** What a service in a process of its own has counted. */
export async function metricsOf({ metricsUrl = '' }: { metricsUrl?: string }): Promise<Sample[]> {
  return parseMetrics(await (await fetch(metricsUrl)).text())
}

/** The sum of the samples with these labels; 0 without any. */
export function sumOf(samples: readonly Sample[], name: string, labels: Record<string, string> = {}): number {
  return samples
    .filter(
      (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    )
    .reduce((sum, { value }) => sum + value, 0)
}

function addLine(families: Family[], line: string): void {
  const [, comment, name = '', rest = ''] = new RegExp(`^# (HELP|TYPE) (${NAME}) (.+)$`).exec(line) ?? []
  const last = families.at(-1)
  if (comment === 'HELP') {
    if (families.some((family) => family.name === name)) throw new Error(`${name} is defined twice`)
    families.push({ name, type: '', samples: [] })
  } else if (comment === 'TYPE') {
    if (last?.name !== name || last.type !== '' || !Object.hasOwn(SUFFIXES, rest)) throw new Error(`Unexpected ${line}`)
    last.type = rest
  } else {
    const sample = parseSample(line)
    if (!SUFFIXES[last?.type ?? '']?.some((suffix) => sample.name === `${last?.name}${suffix}`))
      throw new Error(`Outside of its family: ${line}`)
    last?.samples.push(sample)
  }
}

function parseSample(line: string): Sample {
  const [, name, labels = '', value = ''] = SAMPLE.exec(line) ?? []
  if (name === undefined || !NUMBER.test(value)) throw new Error(`Not a sample: ${line}`)
  const pairs = [...labels.matchAll(new RegExp(`(${LABEL})`, 'g'))].map(([pair]) => {
    const at = pair.indexOf('=')
    const unescaped = pair.slice(at + 2, -1).replace(/\\(.)/g, (_, character) => (character === 'n' ? '\n' : character))
    return [pair.slice(0, at), unescaped] as const
  })
  if (new Set(pairs.map(([key]) => key)).size < pairs.length) throw new Error(`A label occurs twice: ${line}`)
  return { name, labels: Object.fromEntries(pairs), value: Number(value.replace('Inf', 'Infinity')) }
}

function checkFamily({ name, type, samples }: Family): void {
  if (type === '') throw new Error(`${name} has no type`)
  if (type === 'counter' && !name.endsWith('_total')) throw new Error(`The counter ${name} must end in _total`)
  if (type !== 'gauge' && samples.some(({ value }) => !(value >= 0))) throw new Error(`${name} must not be negative`)
  if (type === 'histogram') checkHistogram(name, samples)
}

/** For each set of labels the buckets ascend to +Inf, which equals the count, and there is a sum. */
function checkHistogram(name: string, samples: readonly Sample[]): void {
  const bySeries = Map.groupBy(samples, ({ labels: { le: _, ...labels } }) => JSON.stringify(labels))
  for (const [series, ofSeries] of bySeries) {
    const buckets = ofSeries.filter((sample) => sample.name === `${name}_bucket`)
    const bounds = buckets.map(({ labels }) => Number(labels.le?.replace('Inf', 'Infinity')))
    const counts = buckets.map(({ value }) => value)
    const isAscending = (values: number[]) => values.every((value, at) => at === 0 || value >= (values[at - 1] ?? 0))
    const count = ofSeries.find((sample) => sample.name === `${name}_count`)?.value
    const isComplete = bounds.at(-1) === Number.POSITIVE_INFINITY && counts.at(-1) === count
    const hasSum = ofSeries.some((sample) => sample.name === `${name}_sum`)
    if (!isAscending(bounds) || !isAscending(counts) || !isComplete || !hasSum)
      throw new Error(`${name}${series} is not a valid histogram`)
  }
}
