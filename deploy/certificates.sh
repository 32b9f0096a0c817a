#!/usr/bin/env bash
# Make a private authority and the certificate that all parts of a Dask cluster show each other.
#
#   deploy/certificates.sh DIR [DAYS]
#
# writes DIR/ca.pem, DIR/cert.pem, DIR/key.pem for [cluster.tls], and DIR/ca-key.pem, which signs further certificates
# and belongs on no node of the cluster. Whoever holds cert.pem and key.pem can run code on the cluster.
set -euo pipefail
umask 077

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    echo "usage: $0 DIR [DAYS]" >&2
    exit 2
fi
folder=$1
days=${2:-365}
case $days in
'' | *[!0-9]*)
    echo "$0: DAYS must be a whole number, got '$days'" >&2
    exit 2
    ;;
esac
command -v openssl >/dev/null || {
    echo "$0: expected openssl, but it is not installed; install the package openssl" >&2
    exit 1
}
mkdir -p "$folder"
for name in ca.pem ca-key.pem cert.pem key.pem; do
    if [ -e "$folder/$name" ]; then
        echo "$0: $folder/$name is already there; choose another folder, or remove it" >&2
        exit 1
    fi
done

draft=$(mktemp -d "$folder/.draft-XXXXXX")
trap 'rm -rf "$draft"' EXIT

openssl ecparam -genkey -name prime256v1 -noout -out "$draft/ca-key.pem"
openssl req -x509 -new -sha256 -key "$draft/ca-key.pem" -days "$days" -subj "/CN=dnfscale private authority" \
    -addext "basicConstraints=critical,CA:TRUE,pathlen:0" -addext "keyUsage=critical,keyCertSign,cRLSign" \
    -out "$draft/ca.pem"

openssl ecparam -genkey -name prime256v1 -noout -out "$draft/key.pem"
openssl req -new -sha256 -key "$draft/key.pem" -subj "/CN=dnfscale cluster" -out "$draft/cert.csr"
printf '%s\n' "basicConstraints=critical,CA:FALSE" "keyUsage=critical,digitalSignature" \
    "extendedKeyUsage=serverAuth,clientAuth" >"$draft/cert.ext"
openssl x509 -req -sha256 -in "$draft/cert.csr" -CA "$draft/ca.pem" -CAkey "$draft/ca-key.pem" -CAcreateserial \
    -days "$days" -extfile "$draft/cert.ext" -out "$draft/cert.pem" 2>/dev/null
openssl verify -CAfile "$draft/ca.pem" "$draft/cert.pem" >/dev/null

for name in ca.pem ca-key.pem cert.pem key.pem; do
    mv "$draft/$name" "$folder/$name"
done
chmod 644 "$folder/ca.pem" "$folder/cert.pem"
echo "$folder: ca.pem, cert.pem and key.pem for every node and client, valid for $days days; keep ca-key.pem to yourself"
