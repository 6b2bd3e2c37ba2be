"""Renders every kustomization of deploy/ and checks what comes out.

- Objects of Kubernetes are validated against its schemas, those of others against their projects' types.
- What a schema cannot know is asserted: that names fit each other, that pods pass the restricted standard, that a pod is
  not killed while it drains, and that the program reads the variables that it is given.
- The program is started with the environment of the pod.

Usage: check_manifests.py PROGRAM
"""

import contextlib
import copy
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import kubernetes_validate
import yaml

DEPLOY = Path(__file__).parents[2] / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
# The oldest and the newest for which the manifests are meant.
VERSIONS = ["1.31", "1.37"]
NAMESPACE = "checked"


def main():
    components = sorted(KUBERNETES.glob("components/*"))
    rendered = {path.name: render(path) for path in [KUBERNETES / "base", *sorted(KUBERNETES.glob("overlays/*"))]}
    for component in components:
        rendered[component.name] = render_with([component])
    rendered["all components"] = render_with(components)
    objects = [thing for things in rendered.values() for thing in things]
    for path in [*sorted(DEPLOY.glob("argocd/*.yaml")), *sorted(DEPLOY.glob("flux/*.yaml"))]:
        objects += yaml.safe_load_all(path.read_text())

    objects = [json.loads(text) for text in sorted({json.dumps(thing) for thing in objects})]
    own = [thing for thing in objects if is_of_kubernetes(thing)]
    for thing in own:
        for version in VERSIONS:
            kubernetes_validate.validate(thing, version, strict=True)
    custom = [thing for thing in objects if not is_of_kubernetes(thing)]
    faults = faults_of_custom_resources(custom)
    assert not faults, "\n".join(faults)
    see_that_faults_are_found(rendered["all components"])

    for things in rendered.values():
        check_deployment(things)
        check_names(things)
    check_the_rest(rendered)
    check_variables()
    run_as_pod(sys.argv[1])
    print(
        f"deploy: {len(rendered)} kustomizations, {len(own)} objects valid for Kubernetes {' and '.join(VERSIONS)}, "
        f"{len(custom)} custom resources valid"
    )


def render(folder):
    done = subprocess.run(["kubectl", "kustomize", folder], check=True, stdout=subprocess.PIPE)
    return list(yaml.safe_load_all(done.stdout))


def render_with(components, literals=None):
    """The base, these components, and literals that are merged over those of the base."""
    with tempfile.TemporaryDirectory() as folder:
        relative = lambda path: os.path.relpath(path.resolve(), Path(folder).resolve())
        kustomization = {
            "namespace": NAMESPACE,
            "resources": [relative(KUBERNETES / "base")],
            "components": [relative(component) for component in components],
            "configMapGenerator": [
                {"name": "mcpress", "behavior": "merge", "literals": [f"{key}={value}" for key, value in (literals or {}).items()]}
            ],
        }
        (Path(folder) / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
        return render(folder)


def is_of_kubernetes(thing):
    group = thing["apiVersion"].rpartition("/")[0]
    return "." not in group or (group.endswith(".k8s.io") and group != "gateway.networking.k8s.io")


def faults_of_custom_resources(things):
    script = Path(__file__).with_name("custom_resources.mjs")
    done = subprocess.run(
        [os.environ.get("NODE", "node"), script], input=json.dumps(things), stdout=subprocess.PIPE, text=True
    )
    return done.stdout.strip().splitlines() or (["custom_resources.mjs failed"] if done.returncode else [])


def see_that_faults_are_found(things):
    """A check that finds nothing may have looked at nothing."""
    for kind, misspell in {
        "Deployment": lambda spec: spec["template"]["spec"].update(enableServiceLink=False),
        "HorizontalPodAutoscaler": lambda spec: spec.update(maxReplicas="10"),
        "HTTPRoute": lambda spec: spec["parentRefs"][0].update(nmespace="gateway"),
        "PodMonitor": lambda spec: spec.update(podMetricEndpoints=[]),
    }.items():
        thing = copy.deepcopy(only(things, kind))
        misspell(thing["spec"])
        if is_of_kubernetes(thing):
            with contextlib.suppress(kubernetes_validate.ValidationError):
                kubernetes_validate.validate(thing, VERSIONS[-1], strict=True)
                raise AssertionError(f"a fault in a {kind} was not found")
        else:
            assert faults_of_custom_resources([thing]), f"a fault in a {kind} was not found"


def check_deployment(things):
    spec = only(things, "Deployment")["spec"]
    pod = spec["template"]["spec"]
    (container,) = pod["containers"]
    assert "replicas" not in spec, "the autoscaler sets the replicas"
    assert spec["strategy"]["rollingUpdate"]["maxUnavailable"] == 0

    # https://kubernetes.io/docs/concepts/security/pod-security-standards/, and what goes beyond it.
    context = {**pod["securityContext"], **container["securityContext"]}
    assert context["runAsNonRoot"] is True and context["runAsUser"] == context["runAsGroup"] == 65534
    assert context["allowPrivilegeEscalation"] is False and context["readOnlyRootFilesystem"] is True
    assert context["capabilities"] == {"drop": ["ALL"]} and context["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    assert not any(pod.get(key) for key in ["hostNetwork", "hostPID", "hostIPC", "volumes"])
    assert container["resources"]["requests"].keys() == {"cpu", "memory"} and container["resources"]["limits"]["memory"]

    probes = {key: container[key]["httpGet"] for key in container if key.endswith("Probe")}
    assert {probe: get["path"] for probe, get in probes.items()} == {
        "startupProbe": "/readyz",
        "readinessProbe": "/readyz",
        "livenessProbe": "/healthz",
    }
    assert all(get["port"] == "http" for get in probes.values())

    # What stands in `env` wins over the ConfigMap, where no literal of an overlay changes it.
    assert [variable["name"] for variable in container["env"]] == ["NAMESPACE", "MCPRESS_ALLOWED_HOSTS"]
    settings = only(things, "ConfigMap")["data"]
    stopping = seconds(settings["MCPRESS_DRAIN_DELAY"]) + seconds(settings["MCPRESS_SHUTDOWN_TIMEOUT"])
    assert 0 < seconds(settings["MCPRESS_DRAIN_DELAY"]) and stopping < pod["terminationGracePeriodSeconds"]


def check_names(things):
    """That the objects mean each other."""
    deployment = only(things, "Deployment")
    name, labels = deployment["metadata"]["name"], deployment["spec"]["template"]["metadata"]["labels"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    ports = {port["name"] for port in container["ports"]}
    is_selected = lambda selector: selector and selector.items() <= labels.items()

    service = only(things, "Service")
    assert is_selected(service["spec"]["selector"])
    assert all(port["targetPort"] in ports for port in service["spec"]["ports"])
    assert is_selected(only(things, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"])
    policy = only(things, "NetworkPolicy")["spec"]
    assert is_selected(policy["podSelector"]["matchLabels"]) and set(policy["policyTypes"]) == {"Ingress", "Egress"}
    assert {port["port"] for rule in policy["ingress"] for port in rule["ports"]} == ports
    scaler = only(things, "HorizontalPodAutoscaler")["spec"]
    assert scaler["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    assert scaler["minReplicas"] > 1
    for constraint in deployment["spec"]["template"]["spec"]["topologySpreadConstraints"]:
        assert is_selected(constraint["labelSelector"]["matchLabels"])
    settings = only(things, "ConfigMap")
    assert container["envFrom"][0]["configMapRef"]["name"] == settings["metadata"]["name"]

    host = settings["data"]["PUBLIC_HOST"]
    service_ports = {key: port[key] for port in service["spec"]["ports"] for key in ("name", "port")}
    for thing in things:
        match thing["kind"]:
            case "Ingress":
                (rule,) = thing["spec"]["rules"]
                assert rule["host"] == host and thing["spec"]["tls"][0]["hosts"] == [host]
                for path in rule["http"]["paths"]:
                    backend = path["backend"]["service"]
                    assert backend == {"name": service["metadata"]["name"], "port": {"name": service_ports["name"]}}
            case "HTTPRoute":
                (rule,) = thing["spec"]["rules"]
                assert thing["spec"]["hostnames"] == [host]
                assert rule["backendRefs"] == [{"name": service["metadata"]["name"], "port": service_ports["port"]}]
            case "PodMonitor":
                assert is_selected(thing["spec"]["selector"]["matchLabels"])
                assert {endpoint["port"] for endpoint in thing["spec"]["podMetricsEndpoints"]} <= ports


def check_the_rest(rendered):
    assert only(rendered["base"], "NetworkPolicy")["spec"]["egress"] == []
    assert only(rendered["live-entries"], "NetworkPolicy")["spec"]["egress"]
    example = rendered["example"]
    (container,) = only(example, "Deployment")["spec"]["template"]["spec"]["containers"]
    assert re.fullmatch(r"[a-z0-9./-]+@sha256:[0-9a-f]{64}", container["image"]), container["image"]
    namespaces = {thing["metadata"].get("namespace") for thing in example if thing["kind"] != "Namespace"}
    assert namespaces == {only(example, "Namespace")["metadata"]["name"]}
    for path in [DEPLOY / "argocd/application.yaml", DEPLOY / "flux/mcpress.yaml"]:
        assert "kubernetes/overlays/example\n" in path.read_text(), f"{path} applies another overlay"


def check_variables():
    """Whatever looks like a setting of the program is one, or one of its build."""
    known = set(re.findall(r'env = "(MCPRESS_\w+)"', (DEPLOY.parent / "crates/runtime/src/config.rs").read_text()))
    known |= set(re.findall(r"MCPRESS_\w+", (DEPLOY.parent / "build.rs").read_text()))
    for path in [*DEPLOY.rglob("*.yaml"), *DEPLOY.rglob("*.yml"), *DEPLOY.rglob("*.service")]:
        # A comment may say what is not meant.
        text = re.sub(r"#.*", "", path.read_text()) if path.suffix != ".service" else path.read_text()
        unknown = set(re.findall(r"MCPRESS_[A-Z_]+\b", text)) - known
        assert not unknown, f"{path}: the program does not read {', '.join(sorted(unknown))}"


def run_as_pod(program):
    """Starts the program with the pod's environment and nothing else, and asks it what the cluster will ask it.

    What an overlay sets is what the pod gets: free ports, no wait for a load balancer that is not there, and more hosts.
    """
    with socket.create_server(("0.0.0.0", 0)) as free:
        metrics = free.getsockname()[1]
    literals = {
        "PUBLIC_HOST": "mcp.example.org",
        "MCPRESS_LISTEN": "0.0.0.0:0",
        "MCPRESS_METRICS_LISTEN": f"0.0.0.0:{metrics}",
        "MCPRESS_DRAIN_DELAY": "0s",
    }
    for further in [["mcp.example.net", "other.example.net:8443"], []]:
        things = render_with([], literals | {"FURTHER_HOSTS": ",".join(further)})
        (container,) = only(things, "Deployment")["spec"]["template"]["spec"]["containers"]
        env = dict(only(things, "ConfigMap")["data"])
        for variable in container["env"]:
            value = variable.get("value", NAMESPACE)
            env[variable["name"]] = re.sub(r"\$\((\w+)\)", lambda match: env[match[1]], value)
        names = ["mcpress", *(f"mcpress.{NAMESPACE}{rest}" for rest in ["", ".svc", ".svc.cluster.local"])]
        ask_as_cluster(program, env, [literals["PUBLIC_HOST"], *further, *(f"{name}:80" for name in names)], metrics)


def ask_as_cluster(program, env, hosts, metrics):
    with subprocess.Popen([program], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            address = process.stdout.readline()
            port = re.search(r":(\d+)/", address)
            assert port, f"no address: {address}{process.stderr.read() if process.poll() is not None else ''}"

            def status(path, host, port=int(port[1])):
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
                connection.request("GET", path, headers={"Host": host})
                return connection.getresponse().status

            assert [status(f"/{path}", "10.0.0.7:8080") for path in ["healthz", "readyz", "version"]] == [200, 200, 403]
            assert status("/metrics", "10.0.0.7:9090", metrics) == 200
            assert {host: status("/version", host) for host in hosts} == dict.fromkeys(hosts, 200)
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=10) == 0


def only(things, kind):
    (thing,) = [thing for thing in things if thing["kind"] == kind]
    return thing


def seconds(text):
    number, unit = re.fullmatch(r"(\d+)(ms|s|m)", text).groups()
    return int(number) * {"ms": 0.001, "s": 1, "m": 60}[unit]


if __name__ == "__main__":
    main()
