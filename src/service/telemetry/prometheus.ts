/** Metrics in Prometheus' text format: https://prometheus.io/docs/instrumenting/exposition_formats/ */

export interface Registry {
  /** Its name ends in `_total`. */
  counter(definition: MetricDefinition): Sum
  gauge(definition: MetricDefinition): Sum
  histogram(
    definition: MetricDefinition & { /** Ascending, without infinity. */ buckets: readonly number[] },
  ): Histogram
  /** A metric without labels that is read at each scrape, and left out while `read` returns null. */
  computed(
    definition: Pick<MetricDefinition, 'help' | 'name'> & { type: 'counter' | 'gauge'; read(): number | null },
  ): void
  /** A gauge that is read at each scrape, with one value of the label for each sample. */
  computedBy(
    definition: Pick<MetricDefinition, 'help' | 'name'> & {
      label: string
      read(): readonly (readonly [string, number])[]
    },
  ): void
  /** All metrics, in the order of their definition. */
  text(): string
}

export interface MetricDefinition {
  name: string
  help: string
  labels?: readonly string[]
}

/** One value per label, in the order of the definition. Only values of a bounded set: each combination is kept. */
type LabelValues = readonly (string | number)[]

export interface Sum {
  add(by: number, ...values: LabelValues): void
}

export interface Histogram {
  observe(value: number, ...values: LabelValues): void
}

export function createRegistry(): Registry {
  const families: (() => string[])[] = []

  function sum(type: string, { name, help, labels = [] }: MetricDefinition): Sum {
    const series = seriesBy(labels, () => ({ value: 0 }))
    // Without labels there is only one series, and it exists from the beginning.
    if (labels.length === 0) series.at([])
    families.push(() => [
      ...header(name, help, type),
      ...series.all().map(({ labels, state }) => sample(name, labels, state.value)),
    ])
    return {
      add(by, ...values) {
        series.at(values).value += by
      },
    }
  }

  return {
    counter: (definition) => sum('counter', definition),
    gauge: (definition) => sum('gauge', definition),

    histogram({ name, help, labels = [], buckets }) {
      const series = seriesBy(labels, () => ({ counts: buckets.map(() => 0), count: 0, sum: 0 }))
      families.push(() => [
        ...header(name, help, 'histogram'),
        ...series.all().flatMap(({ labels, state }) => histogramSamples(name, labels, buckets, state)),
      ])
      return {
        observe(value, ...values) {
          const state = series.at(values)
          const bucket = buckets.findIndex((bound) => value <= bound)
          if (bucket !== -1) state.counts[bucket] = (state.counts[bucket] ?? 0) + 1
          state.count++
          state.sum += value
        },
      }
    },

    computed({ name, help, type, read }) {
      families.push(() => {
        const value = read()
        return value === null ? [] : [...header(name, help, type), sample(name, '', value)]
      })
    },

    computedBy({ name, help, label, read }) {
      families.push(() => {
        const samples = read()
        if (samples.length === 0) return []
        const lines = samples.map(([of, value]) => sample(name, `${label}="${escaped(of)}"`, value))
        return [...header(name, help, 'gauge'), ...lines]
      })
    },

    text: () => `${families.flatMap((lines) => lines()).join('\n')}\n`,
  }
}

interface Series<State> {
  /** `method="GET",status="200"` */
  labels: string
  state: State
}

function seriesBy<State>(names: readonly string[], create: () => State) {
  const series = new Map<string, Series<State>>()
  return {
    at(values: LabelValues): State {
      const key = values.join('\n')
      const known = series.get(key)
      if (known !== undefined) return known.state
      const state = create()
      series.set(key, { labels: names.map((name, index) => `${name}="${escaped(values[index])}"`).join(','), state })
      return state
    },
    all: () => [...series.values()],
  }
}

function histogramSamples(
  name: string,
  labels: string,
  buckets: readonly number[],
  { counts, count, sum }: { counts: readonly number[]; count: number; sum: number },
): string[] {
  const before = labels === '' ? '' : `${labels},`
  let cumulative = 0
  const finite = buckets.map((bound, index) => {
    cumulative += counts[index] ?? 0
    return sample(`${name}_bucket`, `${before}le="${bound}"`, cumulative)
  })
  return [
    ...finite,
    sample(`${name}_bucket`, `${before}le="+Inf"`, count),
    sample(`${name}_sum`, labels, sum),
    sample(`${name}_count`, labels, count),
  ]
}

function header(name: string, help: string, type: string): string[] {
  return [`# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`, `# TYPE ${name} ${type}`]
}

function sample(name: string, labels: string, value: number): string {
  return `${name}${labels === '' ? '' : `{${labels}}`} ${value}`
}

function escaped(value: string | number = ''): string {
  return String(value).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
