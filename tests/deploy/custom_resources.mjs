// Validates custom resources against the types of the projects that define them.
// Reads a JSON array of objects from stdin, and prints one line for each fault.
import { exit, stdin } from "node:process";
import { text } from "node:stream/consumers";

const PACKAGES = {
  "argoproj.io": "argo-cd",
  "gateway.networking.k8s.io": "gateway-api",
  "image.toolkit.fluxcd.io": "flux-cd",
  "kustomize.toolkit.fluxcd.io": "flux-cd",
  "monitoring.coreos.com": "prometheus-operator",
  "source.toolkit.fluxcd.io": "flux-cd",
};

const faults = [];
for (const object of JSON.parse(await text(stdin))) {
  const [group, version] = object.apiVersion.split("/");
  const name = `${object.kind} ${object.metadata.name}`;
  const { [object.kind]: Model } = await import(`@kubernetes-models/${PACKAGES[group]}/${group}/${version}`);
  const asked = new Set();
  try {
    Model.prototype.validate.call(watched(object, "", asked)); // the constructor would copy it
  } catch (error) {
    faults.push(`${name}: ${error.message}`);
  }
  faults.push(...unknown(object, "", asked).map((path) => `${name}: unknown key ${path}`));
}
console.log(faults.join("\n"));
exit(faults.length && 1);

// The schemas let unknown keys pass. A validator asks for each key that its schema has, so one that it never asks for is unknown.
function watched(value, path, asked) {
  if (typeof value !== "object" || value === null) return value;
  return new Proxy(value, {
    get(target, key) {
      if (typeof key === "symbol" || !Object.hasOwn(target, key)) return Reflect.get(target, key);
      asked.add(`${path}/${key}`);
      return watched(target[key], `${path}/${key}`, asked);
    },
  });
}

function unknown(value, path, asked) {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) =>
    asked.has(`${path}/${key}`) ? unknown(child, `${path}/${key}`, asked) : [`${path}/${key}`],
  );
}
