/** The Helm chart: what each file of deploy/helm/ci makes of it. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { parse, parseDocument } from 'yaml'
import * as z from 'zod'
import { createMetrics } from '../../src/service/telemetry/metrics.ts'
import { parseConfig } from '../../src/shared/config.ts'
import { VERSION } from '../../src/version.ts'
import { codeBlocks } from '../support/markdown.ts'
import {
  CHART,
  EXAMPLES,
  example,
  KUBERNETES,
  kubernetesValidator,
  type Manifest,
  objectOf,
  render,
  test,
  textOf,
  type Values,
} from './chart.ts'

// The Secrets that the examples name, as somebody has created them.
const EXISTING = { minimal: { SERVICE_API_AUTH_TOKEN: 'secret' }, autoscaled: {}, full: { ENGINE_API_KEY: 'key' } }

const podSchema = z.looseObject({
  terminationGracePeriodSeconds: z.number(),
  containers: z.tuple([
    z.looseObject({
      image: z.string(),
      env: z.array(z.object({ name: z.string(), value: z.string() })),
      livenessProbe: z.looseObject({ httpGet: z.object({ path: z.string(), port: z.literal('http') }) }),
      readinessProbe: z.looseObject({ httpGet: z.object({ path: z.string(), port: z.literal('http') }) }),
    }),
  ]),
})

const deploymentSchema = z.looseObject({
  spec: z.looseObject({ replicas: z.number().optional(), template: z.looseObject({ spec: podSchema }) }),
})

test('the chart: its examples are those that are tested', async () => {
  expect((await readdir(join(CHART, 'ci'))).toSorted()).toEqual(EXAMPLES.map((name) => `${name}.yaml`).toSorted())
})

test.for(EXAMPLES)(
  'the chart, %s: Helm finds nothing, and versions 3 and 4 render the same',
  async (name, { helm }) => {
    expect(await helm.lint(example(name))).toEqual([])
    expect(byName(await render(helm, example(name), 'v3'))).toEqual(byName(await render(helm, example(name), 'v4')))
  },
)

for (const version of KUBERNETES)
  test.for(EXAMPLES)(`the chart, %s: Kubernetes ${version} has each field of it`, async (name, { helm }) => {
    const errorsOf = await kubernetesValidator(version)
    const manifests = await render(helm, example(name))

    expect(manifests.length).toBeGreaterThan(3)
    expect((await Promise.all(manifests.map(errorsOf))).flat()).toEqual([])
  })

test.for(EXAMPLES)('the chart, %s: the service accepts its configuration', async (name, { helm }) => {
  const manifests = await render(helm, example(name))
  const pod = podOf(manifests)
  const env = Object.fromEntries(pod.containers[0].env.map((variable) => [variable.name, variable.value]))
  const policies = manifests
    .filter(({ kind }) => kind === 'ConfigMap')
    .map(({ data }) => z.record(z.string(), z.string()).parse(data))
  const secrets = manifests.filter(({ kind }) => kind === 'Secret').map(({ stringData }) => stringData)

  const config = parseConfig(Object.assign({ SERVICE_HOST: '0.0.0.0' }, EXISTING[name], ...secrets, env), {
    binds: true,
    policyFile: { text: policies[0]?.['policy.json'] ?? '{ "version": 1, "rules": [] }' },
  })

  expect(config.warnings).toEqual([])
  expect(config.catalog).toBe('orders')
  expect(config.access.policy !== null).toBe(name !== 'minimal')
  // What remains is time to start.
  expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(config.server.shutdownTimeoutMs)
})

test('the chart: creates only what its values ask for', async ({ helm }) => {
  const kinds = async (name: string) => (await render(helm, example(name))).map(({ kind }) => kind).toSorted()
  const always = ['Deployment', 'PodDisruptionBudget', 'Service', 'ServiceAccount']

  expect(await kinds('minimal')).toEqual(always)
  expect(await kinds('autoscaled')).toEqual([...always, 'ConfigMap', 'HorizontalPodAutoscaler'].toSorted())
  expect(await kinds('full')).toEqual([...always, 'Ingress', 'Secret'].toSorted())
})

test('the chart: probes are below the base path, and the grace period contains the shutdown', async ({ helm }) => {
  const { terminationGracePeriodSeconds, containers } = podOf(await render(helm, example('full')))
  const [{ livenessProbe, readinessProbe, image }] = containers

  expect(livenessProbe).toMatchObject({ httpGet: { path: '/portico/health' }, periodSeconds: 10 })
  expect(readinessProbe).toMatchObject({ httpGet: { path: '/portico/ready' }, periodSeconds: 5 })
  expect(terminationGracePeriodSeconds).toBe(10 + 60 + 5)
  expect(image).toMatch(/^registry\.example\.com\/portico@sha256:/)
  expect(podOf(await render(helm, example('minimal'))).containers[0]).toMatchObject({
    image: `registry.example.com/portico:${VERSION}`,
    livenessProbe: { httpGet: { path: '/health' } },
  })
})

test('the chart: secrets are in a Secret alone, and a new one restarts the pods', async ({ helm }) => {
  const values = (token: string) => ({ ...example('full'), secret: { values: { SERVICE_API_AUTH_TOKEN: token } } })
  const deployment = async (token: string) => JSON.stringify(objectOf(await render(helm, values(token)), 'Deployment'))

  expect(await deployment('first-token')).not.toContain('first-token')
  expect(await deployment('first-token')).not.toBe(await deployment('second-token'))
})

test('the chart, autoscaled: the autoscaler sets the replicas, by a metric that the service has', async ({ helm }) => {
  const manifests = await render(helm, example('autoscaled'))
  const autoscaler = objectOf(manifests, 'HorizontalPodAutoscaler')
  const metric = 'portico_requests_in_flight'

  expect(deploymentSchema.parse(objectOf(manifests, 'Deployment')).spec.replicas).toBeUndefined()
  expect(autoscaler).toMatchObject({
    spec: {
      minReplicas: 3,
      maxReplicas: 20,
      metrics: [{ type: 'Pods', pods: { metric: { name: metric }, target: { averageValue: '40' } } }],
    },
  })
  expect(createMetrics({ version: '', runtime: '', transport: '' }).text()).toContain(`\n${metric} 0\n`)
  expect(adapterRule()).toMatchObject({ rules: [{ seriesQuery: expect.stringMatching(`^${metric}\\{`) }] })
})

test.for<[string, Values, RegExp]>([
  ['a misspelled value', { replica: 3 }, /additional properties 'replica' not allowed/],
  ['no catalog', { env: { ENGINE_ADDRESS: 'temporal:7233' } }, /SERVICE_CATALOG_ID/],
  ['no image', { image: { repository: '' } }, /repository/],
  ['a variable that the chart sets', { env: { SERVICE_CATALOG_ID: 'orders', SERVICE_PORT: '80' } }, /SERVICE_PORT/],
  ['two policies', { policy: { document: { version: 1 }, existing: 'p' } }, /exclude each other/],
  ['an Ingress without a host', { ingress: { enabled: true } }, /ingress\.host is required/],
])('the chart: %s is an error', async ([, values, message], { helm }) => {
  await expect(render(helm, { ...example('minimal'), ...values })).rejects.toThrow(message)
})

test('the chart: its version, and that of the image, are those of the package', () => {
  expect(parse(textOf('Chart.yaml'))).toMatchObject({ name: 'portico', version: VERSION, appVersion: VERSION })
})

test('deploy/helm/values.yaml: has and describes each value of the schema', () => {
  const text = textOf('values.yaml')
  const lines = text.split('\n')
  const values = parseDocument(text)
  const paths = pathsOf(JSON.parse(textOf('values.schema.json')))

  expect(lines.filter((line, at) => /^ *\w+: ./.test(line) && !/^ *# ./.test(lines[at - 1] ?? ''))).toEqual([])
  expect(paths).toContain('autoscaling.requestsInFlight')
  // Helm has `global` in every chart.
  expect(paths.filter((path) => !values.hasIn(path.split('.')))).toEqual(['global'])
})

const propertiesSchema = z.looseObject({ properties: z.record(z.string(), z.unknown()).default({}) })

function pathsOf(schema: unknown, above = ''): string[] {
  return Object.entries(propertiesSchema.parse(schema).properties).flatMap(([key, inner]) => [
    above + key,
    ...pathsOf(inner, `${above}${key}.`),
  ])
}

/** The rule for prometheus-adapter in deploy/kubernetes.md. */
function adapterRule(): unknown {
  const [, rule = ''] = codeBlocks(textOf('../kubernetes.md'), 'yaml')
  return parse(rule)
}

function byName<T extends { kind: string; metadata: { name: string } }>(manifests: readonly T[]): Record<string, T> {
  return Object.fromEntries(manifests.map((manifest) => [`${manifest.kind}/${manifest.metadata.name}`, manifest]))
}

function podOf(manifests: readonly Manifest[]) {
  return deploymentSchema.parse(objectOf(manifests, 'Deployment')).spec.template.spec
}
