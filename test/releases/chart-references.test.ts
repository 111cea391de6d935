/** The objects of the Helm chart refer to each other: by names, labels and ports, which their schemas do not check. */
import { expect } from 'vitest'
import * as z from 'zod'
import { EXAMPLES, example, objectOf, render, test } from './chart.ts'

const namedSchema = z.looseObject({ name: z.string() })

const containerSchema = z.looseObject({
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })),
  env: z.array(z.object({ name: z.string(), value: z.string() })),
  envFrom: z.array(z.object({ secretRef: namedSchema })).default([]),
  volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })).default([]),
})

const deploymentSchema = z.looseObject({
  metadata: namedSchema,
  spec: z.looseObject({
    selector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
    template: z.looseObject({
      metadata: z.looseObject({ labels: z.record(z.string(), z.string()) }),
      spec: z.looseObject({ containers: z.tuple([containerSchema]), volumes: z.array(namedSchema).default([]) }),
    }),
  }),
})

const serviceSchema = z.looseObject({
  metadata: namedSchema,
  spec: z.looseObject({ selector: z.record(z.string(), z.string()), ports: z.array(z.looseObject({})) }),
})

test.for(EXAMPLES)('the chart, %s: the Service and the other objects find the pods', async (name, { helm }) => {
  const manifests = await render(helm, example(name))
  const { metadata, spec } = deploymentSchema.parse(objectOf(manifests, 'Deployment'))
  const service = serviceSchema.parse(objectOf(manifests, 'Service'))
  const selectors = [spec.selector.matchLabels, service.spec.selector]

  for (const selector of selectors) {
    expect(Object.keys(selector)).not.toEqual([])
    expect(spec.template.metadata.labels).toMatchObject(selector)
  }
  expect(objectOf(manifests, 'PodDisruptionBudget')).toMatchObject({ spec: { selector: spec.selector } })
  expect(service.spec.ports).toMatchObject([{ name: 'http', targetPort: 'http' }])
  expect(spec.template.spec.containers[0].ports).toContainEqual({ name: 'http', containerPort: 3001 })
  if (name === 'autoscaled')
    expect(objectOf(manifests, 'HorizontalPodAutoscaler')).toMatchObject({
      spec: { scaleTargetRef: { kind: 'Deployment', name: metadata.name } },
    })
  if (name === 'full') {
    const backend = { service: { name: service.metadata.name, port: { name: 'http' } } }
    expect(objectOf(manifests, 'Ingress')).toMatchObject({
      spec: { rules: [{ http: { paths: [{ path: '/portico/', backend }] } }] },
    })
  }
})

test.for(EXAMPLES)(
  'the chart, %s: the pods get the secrets, the policy and the port of the metrics',
  async (name, { helm }) => {
    const manifests = await render(helm, example(name))
    const { containers, volumes } = deploymentSchema.parse(objectOf(manifests, 'Deployment')).spec.template.spec
    const [{ ports, env, envFrom, volumeMounts }] = containers
    const variable = (name: string) => env.find((one) => one.name === name)?.value
    const nameOf = (kind: string) => objectOf(manifests, kind)?.metadata.name

    expect(envFrom.map(({ secretRef }) => secretRef.name)).toEqual(
      { minimal: ['portico-token'], autoscaled: [], full: [nameOf('Secret'), 'temporal-cloud'] }[name],
    )
    expect(volumes.map((volume) => volume.name)).toEqual(volumeMounts.map((mount) => mount.name))
    const policy = { minimal: undefined, autoscaled: nameOf('ConfigMap'), full: 'portico-policy' }[name]
    if (policy !== undefined) {
      expect(volumes[0]).toMatchObject({ configMap: { name: policy } })
      expect(variable('SERVICE_POLICY_FILE')).toBe(`${volumeMounts[0]?.mountPath}/policy.json`)
    }
    const port = { minimal: undefined, autoscaled: 9464, full: 9000 }[name]
    expect(ports.find((one) => one.name === 'metrics')?.containerPort).toBe(port)
    expect([variable('SERVICE_METRICS_ON'), variable('SERVICE_METRICS_PORT')]).toEqual(
      port === undefined ? [undefined, undefined] : ['true', String(port)],
    )
  },
)

test('the chart: a pod continues to serve before SIGTERM for preStopSeconds', async ({ helm }) => {
  const [container] = deploymentSchema.parse(objectOf(await render(helm, example('full')), 'Deployment')).spec.template
    .spec.containers

  expect(container).toMatchObject({ lifecycle: { preStop: { sleep: { seconds: 10 } } } })
})
