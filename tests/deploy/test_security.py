"""Who gets in: nobody without a certificate of the cluster's authority, and nobody by chance
without TLS.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dnfscale.engine.clusters.address import Address
from dnfscale.engine.launch import launch
from dnfscale.errors import ClusterError, SpecError
from dnfscale.spec.cluster import ClusterSpec, TlsFiles
from tests.deploy.processes import make_certificates


def files(folder: Path) -> TlsFiles:
    return TlsFiles(*(str(folder / f"{name}.pem") for name in ("ca", "cert", "key")))


@pytest.fixture(scope="module")
def strangers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Certificates of another authority."""
    return make_certificates(tmp_path_factory.mktemp("strangers") / "tls")


def test_who_has_no_certificate_is_told_to_bring_one(encrypted_cluster):
    with pytest.raises(
        SpecError, match=r"asks for certificates, but there are none; give \[cluster\.tls\]"
    ):
        launch(ClusterSpec(kind="address", options=Address(encrypted_cluster)))


def test_who_comes_without_tls_is_not_answered(encrypted_cluster, monkeypatch):
    monkeypatch.setattr("dnfscale.engine.dask.client._SPEAK_S", 1.0)
    plain = encrypted_cluster.replace("tls://", "tcp://")
    with pytest.raises(ClusterError, match="says nothing: perhaps it wants TLS"):
        launch(ClusterSpec(kind="address", options=Address(plain)))


def test_who_trusts_another_authority_does_not_trust_the_scheduler(encrypted_cluster, strangers):
    with pytest.raises(
        ClusterError, match=r"its certificate is not of the authority in cluster\.tls\.ca_file"
    ):
        launch(
            ClusterSpec(kind="address", options=Address(encrypted_cluster), tls=files(strangers))
        )


def test_who_shows_a_certificate_of_another_authority_cannot_connect(
    encrypted_cluster, certificates, strangers, tmp_path
):
    for name in ("cert.pem", "key.pem"):
        shutil.copy(strangers / name, tmp_path / name)
    shutil.copy(certificates / "ca.pem", tmp_path / "ca.pem")
    with pytest.raises(
        ClusterError, match=r"does not take our certificate \(.*unknown ca\); use a cert_file"
    ):
        launch(ClusterSpec(kind="address", options=Address(encrypted_cluster), tls=files(tmp_path)))


def test_dask_itself_does_not_let_them_in_either(encrypted_cluster, certificates, strangers):
    """The probe is a courtesy; what keeps strangers out is TLS on the scheduler."""
    from distributed import Client

    from dnfscale.engine.dask.credentials import security_of

    stranger = TlsFiles(
        files(certificates).ca_file, files(strangers).cert_file, files(strangers).key_file
    )
    with pytest.raises(OSError, match=r"Timed out trying to connect|unknown ca|TLS"):
        Client(encrypted_cluster, security=security_of(stranger), timeout=2, set_as_default=False)


def test_a_key_that_is_not_of_the_certificate_is_said(encrypted_cluster, certificates, strangers):
    mixed = TlsFiles(
        files(certificates).ca_file, files(certificates).cert_file, files(strangers).key_file
    )
    with pytest.raises(SpecError, match="must fit together, but they do not"):
        launch(ClusterSpec(kind="address", options=Address(encrypted_cluster), tls=mixed))
